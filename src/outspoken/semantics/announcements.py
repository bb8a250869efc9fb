"""Sentences that say of a call beside them that it was not made: it is an example, another's words, or is not to run.

They are known in the languages that models write most. Where a word may also lead to a call (`I look for an example:`),
it counts at the beginning of a sentence only.
"""

from __future__ import annotations

import re

from outspoken.patterns.lazy import lazy_pattern

#: The word for an example, and the words that may stand before it where it begins a sentence.
_EXAMPLE = (
    r"(?:examples?|beispiele?|exemples?|ejemplos?|exemplos?|esempi[oi]?|voorbeeld(?:en)?|przykład\w?|příklad\w?"
    r"|örne[kğ]\w{0,2}|példa|esimerk\w{2,4}|exempel|eksemp(?:el|let)|contoh|ví dụ|παράδειγμα|пример\w?|приклад\w?"
    r"|דוגמה|مثال|مثلا|उदाहरण|ตัวอย่าง)"
)
_BEFORE = r"(?:(?:an?|for|as|zum|als|ein|par|un|une|por|um|per|een|na|til|for|för|на|lấy)[ ]){0,2}"
_CJK_EXAMPLE = r"(?:比如|譬如|例如|示例|举例|例えば|例として|例|예시|예를 들어|예)(?:说|来说|如下|这样)?"
#: Words that say of an example that it is no more than that.
_IS = r"\b(?:is|are|['’]s|ist|sind|est|sont|es|son|é|são|è|sono|это|jest|zijn)[ ]"
_ONLY = (
    r"(?:just|only|merely|purely|nur|bloß|lediglich|seulement|juste|s[oó]lo|solamente|apenas|soltanto|alleen|tylko"
    r"|только|лишь|просто)"
)
_CJK_ONLY = r"(?:只是|仅仅?是|不过是|ただの|単なる|あくまで)(?:一个|个)?(?:例子?|示例|样例|演示)"
#: Who speaks where that is not the model, and the words for speaking, in languages other than English.
_SPEAKERS = (
    r"(?:page|site|fichier|e?-?mails?|message|document|utilisateur|courriel|seite|datei|nachricht|dokument|nutzer"
    r"|benutzer|p[aá]gina|archivo|correo|mensaje|documento|usu[aá]rio|arquivo|mensagem|messaggio|utente|file"
    r"|страниц\w|файл\w?|письм\w|сообщени\w|документ\w?|пользовател\w)"
)
_SPEAK = (
    r"(?:dit|indique|contient|affiche|sagt|enthält|lautet|schreibt|besagt|dice|contiene|indica|muestra|escribió|diz"
    r"|contém|говорит|содержит|гласит|написано|написал\w?|пишет)"
)
_CJK_SPEAKS = (
    r"(?:网页|网站|页面|邮件|文件|文档|消息|用户|对方)[^：:，,]{0,12}(?:说|写道|写着|写的?是|内容(?:是|如下)?)"
    r"|(?:ページ|サイト|メール|ファイル|文書|メッセージ|ユーザー)[^：:]{0,16}(?:書|言)(?:か|い|っ)(?:て|れて)?(?:ある|いる|います|あります)"
    r"|(?:페이지|사이트|메일|파일|문서|메시지|사용자)[^:]{0,16}(?:적혀 있|쓰여 있|라고 (?:말|썼))[^:]{0,8}"
)
#: What ends a sentence, and what begins a part of one that may be an announcement of its own.
_SENTENCE_ENDS, _PART_ENDS = "\n.!?。！？", "}])>"
#: No sentence that announces something is longer.
_LONGEST = 120
#: The tag of another format behind a colon.
_TAG = re.compile(r"\s<[\w|:]{1,40}>\Z")
#: `A call looks like <tool_call>…`
_LEADS_ON = (
    *[f"look{s} like{end}" for s in ("", "s") for end in ("", " this", " this:", " so", " so:")],
    *("is written as", "are written as", "such as", "e.g.", "e.g.,", "for example", "for example,"),
)
_EXAMPLE_ALONE = lazy_pattern(rf"{_BEFORE}{_EXAMPLE}|{_CJK_EXAMPLE}", re.IGNORECASE)
#: `The page says`, but not `Let me see what the page says`; `This is only an example`, `I will not run this`.
_SPOKEN = lazy_pattern(
    r"(?<=\S[ ])(?:says?|said|reads|wrote|writes|contain(?:s|ed)|return(?:s|ed)|told me to \w{1,20}|injection)"
    r"(?: (?:this|so|as follows|the following)(?: \w{1,20})?)?\Z"
    rf"|\b{_SPEAKERS}\b.{{0,24}}\b{_SPEAK}\b(?:[ ]\w{{1,12}}){{0,3}}\Z",
    re.IGNORECASE,
)
_ASKED = lazy_pattern(
    r"\b(?:what|which|whether|if|how|when|let|to|i|we|was|welche\w?|ob|wie|wenn|que|qu|si|qué|cómo|che|cosa|что|как|если)\b",
    re.IGNORECASE,
)
_OF_OTHERS = lazy_pattern(
    rf"{_IS}{_ONLY}\b.{{0,12}}\b{_EXAMPLE}\b.{{0,24}}\Z|{_CJK_ONLY}.{{0,8}}\Z|(?:{_CJK_SPEAKS})\Z"
    r"|\b(?:wo|would|will|should|must) ?n[o'’]?t (?:run|execute|call|follow|obey)\b[^,;]{0,40}\Z",
    re.IGNORECASE,
)


def announces(text: str) -> bool:
    """Does a text end with a sentence which says that what follows is an example, another's words, or not to be run?

    A tag of another format may stand behind it.
    """
    said = text[-_LONGEST:].rstrip()
    if said[-1:] == ">":
        said = _TAG.sub("", said).rstrip()
    if said.lower().endswith(_LEADS_ON):
        return True
    if said[-1:] not in (":", "："):
        return False
    said = said.rstrip(":：").rstrip()
    sentence = said[max(map(said.rfind, _SENTENCE_ENDS)) + 1 :].strip()
    part = sentence[max(map(sentence.rfind, _PART_ENDS)) + 1 :].strip()
    if _EXAMPLE_ALONE.fullmatch(part):
        return True
    if ":" not in sentence and (spoken := _SPOKEN.search(sentence)) is not None:
        return _ASKED.search(sentence, 0, spoken.start()) is None
    return _OF_OTHERS.search(sentence) is not None


#: A sentence that speaks of an example, a format or what something looks like, and ends in a colon or in "is".
ANNOUNCES = lazy_pattern(
    rf"\b(?:{_EXAMPLE}\b|format|syntax|manual|documentation|template|sample|usage|looks? like|such as|would (?:be|look)"
    r"|e\.g\.|for instance|illustrat\w{1,6}|like (?:so|this)|how (?:to|you|one|users?)\b"
    r"|(?:you|one|users?) (?:can|could|may|might|would|should))"
    rf"[^\n]*(?:[:：]|\bis)\s*\Z|{_CJK_EXAMPLE}\w?[:：]\s*\Z",
    re.IGNORECASE,
)
#: The beginning of a sentence which says that what stands before it is an example, or is not to be run.
DENIES = lazy_pattern(
    r"\s*(?:[(*_（]{0,2}note[:,*_ ]{1,3})?(?:[^\W\d_]{1,12}[, ]{1,2}){0,3}?(?:"
    r"(?:this|that|it|these|those|the above)(?: is| was| are|['’]s) (?:only |just |merely |purely )?(?:an? |the )?"
    r"(?:hypothetical|made-up|fictional|example|illustration|sample|template|placeholder|demonstration)"
    r"|(?:(?:is|are|was|were)(?: not|n['’]t)|not) (?:an? )?(?:real |actual )?(?:tool |function )?"
    r"(?:calls?|invocations?)\b|(?:do|did|will|would|must|should|wo) ?(?:not|n['’]t) (?:actually )?"
    r"(?:run|execute|call|invoke|make)\b"
    r"|(?:das|dies|ceci|cela|c['’]est|esto|este|isto|isso|questo|это|dit|to)(?: ist| est| es| é| è| is| jest)?"
    rf"(?: {_ONLY})?(?: (?:ein|un|une|um|een))?[ ]{_EXAMPLE}\b"
    r"|no (?:lo )?(?:ejecut|llam)|não (?:o )?execut|non (?:lo )?esegu|ne (?:pas )?(?:l['’])?exécut"
    r"|не (?:выполня|запуска|вызыва)"
    r"|(?:führe|rufe) [^\n.]{0,24}nicht (?:aus|auf)\b)"
    rf"|\s*[(（]?(?:注意[:：，,]?)?(?:这|以上|上面)?(?:{_CJK_ONLY}|是(?:一个)?(?:例子|示例|样例))"
    r"|\s*[^\n。]{0,8}(?:不要|请勿|(?:不会|没有)(?:真的|实际))(?:执行|运行|调用)"
    r"|\s*(?:これ|上記)は(?:単なる|ただの|あくまで)?例|\s*[^\n。]{0,12}(?:実行|呼び出)(?:し(?:ない|ません)|さ(?:ない|ません))"
    r"|\s*[^\n.]{0,12}예시(?:일 뿐|입니다|이다)|\s*[^\n.]{0,12}실행하지 (?:않|마)",
    re.IGNORECASE,
)
