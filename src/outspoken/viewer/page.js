// A page of one response, which asks nobody
function offer(kind, select, answers) {
  const names = Object.keys(answers ?? {});
  $(`tab-${kind}`).hidden = !names.length;
  if (!names.length) return;
  $(select).replaceChildren(...names.map((name) => new Option(name)));
  const draw = () => drawAnswer(kind, answers[$(select).value]);
  $(select).addEventListener("change", draw);
  draw();
}

function drawGiven(given) {
  $("tab-given").hidden = !given;
  for (const [name, value] of Object.entries(given ?? {})) {
    if (name === "text" || value === null || value === "" || value === 0) continue;
    const block = make("div", "code");
    block.tabIndex = 0;
    block.textContent = String(value);
    $("panel-given").append(make("h2", "", name.replace("_", " ")), block);
  }
}

show(JSON.parse($("data").textContent));
if (location.hash) follow();
offer("constraint", "target", data.constraint);
offer("rendered", "written-in", data.rendered);
drawGiven(data.given);
