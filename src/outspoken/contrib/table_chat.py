"""The payloads of table.that, a chat about tables: suggestions, and proposals to change a table or its rows.

They follow table.that's specification of marker payloads. `tables_registry` defines its pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, model_validator

from outspoken.payloads.registry import PayloadRegistry
from outspoken.payloads.types import Page, PayloadSettings, PayloadType
from outspoken.payloads.validation import BrokenRulesError, is_list
from outspoken.results.schemas.schema import is_object

_FEWEST, _MOST = 2, 4
_FEWEST_WORDS, _MOST_WORDS = 2, 6


class _Model(BaseModel):
    model_config = ConfigDict(extra="allow", populate_by_name=True)


class SuggestedValue(_Model):
    """A chip that sends a message when it is clicked."""

    label: str = Field(min_length=1, description="What the chip says, in 2 to 6 words")
    value: str = Field(description="What is sent as the user's next message")


class SuggestedAction(_Model):
    """A button for a client action, which must be registered for the page."""

    label: str = Field(min_length=1, description="What the button says")
    action: str = Field(description="One of the CLIENT ACTIONS")
    handler: Literal["client"] = Field(description="Always `client`")

    @model_validator(mode="after")
    def _is_registered(self, info: ValidationInfo) -> SuggestedAction:
        context: dict[str, Any] = info.context or {}
        actions: Any = context.get("actions")
        if actions is not None and self.action not in actions:
            raise ValueError(f"there is no client action `{self.action}` on this page")
        return self


ColumnType = Literal["text", "number", "date", "boolean", "select"]
FilterDisplay = Literal["tab", "dropdown"]


class Column(_Model):
    """A new column."""

    name: str = Field(description="The column's name")
    type: ColumnType = Field(description="What its values are")
    required: bool = Field(default=False, description="Must every row have a value?")
    options: list[str] | None = Field(default=None, description="The values to choose from, for `select` only")
    filter_display: FilterDisplay | None = Field(
        default=None, alias="filterDisplay", description="How it is filtered by, for `select` only"
    )

    @model_validator(mode="after")
    def _goes_together(self) -> Column:
        rules: list[str] = []
        if self.type == "select" and not self.options:
            rules.append(f"the select column `{self.name}` has no `options`")
        if self.type != "select" and self.filter_display is not None:
            rules.append(f"`filterDisplay` is for select columns, and `{self.name}` is `{self.type}`")
        if rules:
            raise BrokenRulesError(rules)
        return self


class Changes(_Model):
    """The changed fields of a column."""

    name: str | None = None
    type: ColumnType | None = None
    required: bool | None = None
    options: list[str] | None = Field(default=None, description="The full list, not only what is new")
    filter_display: FilterDisplay | None = Field(default=None, alias="filterDisplay")

    @model_validator(mode="after")
    def _goes_together(self) -> Changes:
        if self.filter_display is not None and self.type not in (None, "select"):
            raise ValueError(f"`filterDisplay` is for select columns, and this becomes `{self.type}`")
        return self


class AddColumn(_Model):
    """Adds a column, behind another one or as the last."""

    action: Literal["add"]
    column: Column
    after_column_id: str | None = Field(default=None, description="The column before it; left out, it is the last")


class ModifyColumn(_Model):
    """Changes a column."""

    action: Literal["modify"]
    column_id: str
    changes: Changes


class RemoveColumn(_Model):
    """Removes a column."""

    action: Literal["remove"]
    column_id: str


class ReorderColumn(_Model):
    """Moves a column behind another one, or to the front."""

    action: Literal["reorder"]
    column_id: str
    after_column_id: str | None = Field(default=None, description="The column before it; left out, it is the first")


ColumnOperation = Annotated[AddColumn | ModifyColumn | RemoveColumn | ReorderColumn, Field(discriminator="action")]


class SchemaProposal(_Model):
    """A new table, or changes to the columns of a table, for the user to accept."""

    mode: Literal["create", "update"] = Field(description="Is there a table already?")
    reasoning: str | None = Field(default=None, description="Why, in a sentence")
    table_name: str | None = Field(default=None, description="Required for create; for update, only to rename")
    table_description: str | None = Field(default=None, description="Required for create")
    operations: list[ColumnOperation] = Field(min_length=1)
    sample_rows: list[dict[str, Any]] | None = Field(
        default=None, max_length=5, description="Required for create: 2 or 3 rows, by column name"
    )

    @model_validator(mode="after")
    def _fits_its_mode(self) -> SchemaProposal:
        rules = list(_rules_of_create(self)) if self.mode == "create" else []
        if rules:
            raise BrokenRulesError(rules)
        return self


def _rules_of_create(proposal: SchemaProposal) -> Iterable[str]:
    """The rules for new tables that a proposal breaks."""
    others = sorted({operation.action for operation in proposal.operations if not isinstance(operation, AddColumn)})
    if others:
        yield f"a new table takes only `add` operations, not {', '.join([f'`{other}`' for other in others])}"
    for key in ("table_name", "table_description", "sample_rows"):
        if not getattr(proposal, key):
            yield f"a new table needs `{key}`"
    added = [operation for operation in proposal.operations if isinstance(operation, AddColumn)]
    if any(
        operation.after_column_id is not None or "column_id" in (operation.model_extra or {}) for operation in added
    ):
        yield "a new table has no column ids yet; its columns are known by name"
    names = {operation.column.name for operation in added}
    unknown = sorted({key for row in proposal.sample_rows or [] for key in row} - names)
    if unknown:
        yield f"`sample_rows` speaks of {', '.join([f'`{name}`' for name in unknown])}, which is no column"


def _no_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("a row's id is a number, not a boolean")
    return value


RowId = Annotated[int, BeforeValidator(_no_boolean)]


class AddRow(_Model):
    """Adds a row."""

    action: Literal["add"]
    data: dict[str, Any] = Field(description="Values by column name")


class UpdateRow(_Model):
    """Changes a row."""

    action: Literal["update"]
    row_id: RowId = Field(description="The row's id, from the context")
    changes: dict[str, Any] = Field(description="The new values by column name, only those that change")


class DeleteRow(_Model):
    """Deletes a row."""

    action: Literal["delete"]
    row_id: RowId = Field(description="The row's id, from the context")


RowOperation = Annotated[AddRow | UpdateRow | DeleteRow, Field(discriminator="action")]


class DataProposal(_Model):
    """Rows to add, change and delete, for the user to accept."""

    reasoning: str | None = Field(default=None, description="Why, in a sentence")
    operations: list[RowOperation] = Field(min_length=1)


# unusual payloads, which are valid


def _odd_values(values: list[SuggestedValue], page: Page) -> Iterable[str]:
    if len(values) > _MOST or 0 < len(values) < _FEWEST:
        yield f"there are {len(values)} suggestions; {_FEWEST} to {_MOST} are asked for"
    for one in values:
        if not _FEWEST_WORDS <= len(one.label.split()) <= _MOST_WORDS:
            yield f"the label {one.label!r} should have {_FEWEST_WORDS} to {_MOST_WORDS} words"


def _odd_schema(proposal: SchemaProposal, page: Page) -> Iterable[str]:
    if proposal.mode == "update" and proposal.sample_rows is not None:
        yield "`sample_rows` is not used in an update"
    if proposal.mode == "create" and not 2 <= len(proposal.sample_rows or []) <= 3:
        yield "2 or 3 `sample_rows` are asked for"
    for operation in proposal.operations:
        if isinstance(operation, ModifyColumn) and not operation.changes.model_fields_set:
            yield f"the changes of `{operation.column_id}` are empty"
        if isinstance(operation, ModifyColumn) and operation.changes.type == "select" and not operation.changes.options:
            yield f"the column `{operation.column_id}` becomes `select`, and its `options` are not said"
        if (
            isinstance(operation, AddColumn)
            and operation.column.type != "select"
            and operation.column.options is not None
        ):
            yield f"`options` says nothing of the column `{operation.column.name}`, which is `{operation.column.type}`"


def _odd_data(proposal: DataProposal, page: Page) -> Iterable[str]:
    for number, one in enumerate(proposal.operations):
        if isinstance(one, AddRow) and not one.data:
            yield f"the new row of `operations[{number}]` is empty"
        if isinstance(one, UpdateRow) and not one.changes:
            yield f"the changes of row {one.row_id} are empty"


def _count(data: dict[str, Any]) -> str:
    """The number of operations of each kind; `data` may be any JSON."""
    counts: dict[str, int] = {}
    operations: Any = data.get("operations")
    for one in operations if is_list(operations) else []:
        action = str(one.get("action", "?")) if is_object(one) else "?"
        counts[action] = counts.get(action, 0) + 1
    return ", ".join([f"{number} {action}" for action, number in counts.items()])


def _schema_summary(data: dict[str, Any]) -> str:
    named = f" of {data['table_name']!r}" if data.get("table_name") else ""
    return f"{data.get('mode')}{named}: {_count(data)}"


def _labels(data: list[Any]) -> str:
    return ", ".join([str(one.get("label")) if is_object(one) else "?" for one in data])


SUGGESTED_VALUES = PayloadType(
    "suggested_values",
    "SUGGESTED_VALUES:",
    SuggestedValue,
    kind="array",
    beside=True,
    instructions="Two to four chips that send a message for the user. Write them at the end of an answer after which "
    "the user may not know how to go on; never together with a proposal, nor when the conversation is over.",
    example=[
        {"label": "Add a column", "value": "Add a column for the colour"},
        {"label": "Sort by size", "value": "Sort the stones by size"},
    ],
    summarize=_labels,
    check=_odd_values,
)

SUGGESTED_ACTIONS = PayloadType(
    "suggested_actions",
    "SUGGESTED_ACTIONS:",
    SuggestedAction,
    kind="array",
    beside=True,
    instructions="Buttons for what the client can do by itself. Use the CLIENT ACTIONS only; never invent one, and "
    "never write this together with a proposal.",
    example=[{"label": "Close the chat", "action": "close_chat", "handler": "client"}],
    summarize=_labels,
)

SCHEMA_PROPOSAL = PayloadType(
    "schema_proposal",
    "SCHEMA_PROPOSAL:",
    SchemaProposal,
    instructions="Proposes a new table, or other columns for a table. The user sees it and accepts or refuses it. To "
    "create, use only `add` operations, and refer to columns by name; to update, refer to them by their id.",
    example={
        "mode": "create",
        "reasoning": "A table for the stones of the beach",
        "table_name": "Stones",
        "table_description": "What was found, and where",
        "operations": [
            {"action": "add", "column": {"name": "Name", "type": "text", "required": True}},
            {
                "action": "add",
                "column": {"name": "Colour", "type": "select", "options": ["grey", "red"], "filterDisplay": "tab"},
            },
        ],
        "sample_rows": [{"Name": "Flint", "Colour": "grey"}, {"Name": "Jasper", "Colour": "red"}],
    },
    pages=("tables_list", "table_edit", "table_view"),
    summarize=_schema_summary,
    check=_odd_schema,
)

DATA_PROPOSAL = PayloadType(
    "data_proposal",
    "DATA_PROPOSAL:",
    DataProposal,
    instructions="Proposes to add, change or delete several rows at once. The user sees the rows and accepts or "
    "refuses them. Columns are called by name.",
    example={
        "reasoning": "Two stones from yesterday, one found twice",
        "operations": [
            {"action": "add", "data": {"Name": "Agate", "Colour": "red"}},
            {"action": "update", "row_id": 5, "changes": {"Colour": "grey"}},
            {"action": "delete", "row_id": 12},
        ],
    },
    pages=("table_view",),
    summarize=_count,
    check=_odd_data,
)

TYPES = (SUGGESTED_VALUES, SUGGESTED_ACTIONS, SCHEMA_PROPOSAL, DATA_PROPOSAL)


def tables_registry(
    actions: Mapping[str, Mapping[str, str]] | None = None, settings: PayloadSettings | None = None
) -> PayloadRegistry:
    """A registry with these payloads for the pages `tables_list`, `table_edit` and `table_view`.

    `actions` are additional client actions by page, with their descriptions; `close_chat` is on all pages.
    """
    registry = PayloadRegistry(TYPES, actions={"close_chat": "Close the chat panel"}, settings=settings)
    for page in ("tables_list", "table_edit", "table_view"):
        registry.add_page(page, actions=(actions or {}).get(page))
    return registry
