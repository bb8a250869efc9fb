"""Skyvern's own functions under its names: the JSON that its prompts ask for, and the actions of models.

See the README of this folder for what each function takes the place of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from .action_models import (
        Action as Action,
        CheckboxAction as CheckboxAction,
        ClickAction as ClickAction,
        ClickContext as ClickContext,
        ClosePageAction as ClosePageAction,
        CompleteAction as CompleteAction,
        DecisiveAction as DecisiveAction,
        DownloadFileAction as DownloadFileAction,
        DragAction as DragAction,
        ExecuteJsAction as ExecuteJsAction,
        ExtractAction as ExtractAction,
        GoBackAction as GoBackAction,
        GoForwardAction as GoForwardAction,
        GotoUrlAction as GotoUrlAction,
        HoverAction as HoverAction,
        InputOrSelectContext as InputOrSelectContext,
        InputTextAction as InputTextAction,
        KeypressAction as KeypressAction,
        LeftMouseAction as LeftMouseAction,
        MoveAction as MoveAction,
        NewTabAction as NewTabAction,
        NullAction as NullAction,
        PasteTextAction as PasteTextAction,
        ReloadPageAction as ReloadPageAction,
        ScrollAction as ScrollAction,
        SelectOption as SelectOption,
        SelectOptionAction as SelectOptionAction,
        SolveCaptchaAction as SolveCaptchaAction,
        SwitchTabAction as SwitchTabAction,
        TerminateAction as TerminateAction,
        UploadFileAction as UploadFileAction,
        UserDefinedError as UserDefinedError,
        VerificationCodeAction as VerificationCodeAction,
        WaitAction as WaitAction,
        WebAction as WebAction,
    )
    from .action_types import ActionStatus as ActionStatus, ActionType as ActionType, CaptchaType as CaptchaType
    from .api_response import (
        ApiResponse as ApiResponse,
        ApiResponseLike as ApiResponseLike,
        is_content_filtered_response as is_content_filtered_response,
        is_truncated_response as is_truncated_response,
        loads_with_repair as loads_with_repair,
        parse_api_response as parse_api_response,
        read_api_response as read_api_response,
        require_actions as require_actions,
    )
    from .computer_use import (
        Fallback as Fallback,
        parse_anthropic_actions as parse_anthropic_actions,
        parse_cua_actions as parse_cua_actions,
        parse_ui_tars_actions as parse_ui_tars_actions,
    )
    from .errors import (
        ApiResponseError as ApiResponseError,
        EmptyLLMResponseError as EmptyLLMResponseError,
        InvalidActionError as InvalidActionError,
        InvalidLLMResponseFormat as InvalidLLMResponseFormat,
        InvalidLLMResponseFormatError as InvalidLLMResponseFormatError,
        InvalidLLMResponseType as InvalidLLMResponseType,
        InvalidLLMResponseTypeError as InvalidLLMResponseTypeError,
        LLMContentFilteredError as LLMContentFilteredError,
        LLMOutputTruncatedError as LLMOutputTruncatedError,
        LLMResponseMissingActionsError as LLMResponseMissingActionsError,
        UnsupportedActionError as UnsupportedActionError,
        UnsupportedActionType as UnsupportedActionType,
    )
    from .json_actions import parse_action as parse_action, parse_actions as parse_actions
    from .tasks import (
        Resolution as Resolution,
        ScrapedPageLike as ScrapedPageLike,
        StepLike as StepLike,
        TaskLike as TaskLike,
    )

export_lazily(__name__)
