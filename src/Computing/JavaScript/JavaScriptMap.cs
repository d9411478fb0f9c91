using System.Collections.Concurrent;
using Acornima.Ast;
using Jint;
using Treepie.Computations;
using Treepie.Store;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// A map whose text is JavaScript: <c>map('Users', u =&gt; ({ … }))</c>. Keeps an engine for each thread that maps at a time.
/// </summary>
internal sealed class JavaScriptMap : IndexMap
{
    private readonly ConcurrentBag<MapEngine> _engines = [];
    private readonly IReadOnlyList<Prepared<Acornima.Ast.Script>> _scripts;
    private readonly ScriptLimits _limits;
    private readonly MapScriptShape _shape;

    private JavaScriptMap(IndexTexts index, IReadOnlyList<Prepared<Acornima.Ast.Script>> scripts, ScriptLimits limits)
    {
        _limits = limits;
        _scripts = scripts;
        _shape = MapScriptShape.Of(index, scripts.Select(static script => (Node)script.Program!)); // it was parsed
        LoadedCollections = [.. _shape.Loaded];
        MapEngine first;
        try
        {
            first = MapEngine.OfMap(scripts, limits);
        }
        catch (Exception error) when (MapScripts.MessageOf(error, limits) is { } message)
        {
            throw new InvalidIndexDefinitionException(index.IndexName, "Maps", $"a map cannot be run: {message}");
        }

        Collections = string.Equals(first.Collection, "@all_docs", StringComparison.OrdinalIgnoreCase) ? [] : [first.Collection];
        _engines.Add(first);
    }

    public override IReadOnlyList<string> Collections { get; }

    public override IReadOnlyList<MappedField> Fields => _shape.Fields;

    public override IReadOnlyList<string> LoadedCollections { get; }

    public override bool LoadsCompareExchange => _shape.LoadsCompareExchange;

    public override bool HasBoost => _shape.HasBoost;

    public override bool HasDynamicFields => _shape.HasDynamicFields;

    /// <exception cref="InvalidIndexDefinitionException">The text is none.</exception>
    public static JavaScriptMap Compile(IndexTexts index, string text, ScriptLimits limits) =>
        new(index, MapScripts.Parse(index, "Maps", text), limits);

    public override void Map(Document document, IMapHost host, MapOutput output)
    {
        MapScripts.Run(_limits, () =>
        {
            MapEngine engine = _engines.TryTake(out MapEngine? free) ? free : MapEngine.OfMap(_scripts, _limits);
            engine.Run(host.WholeDocument(), host, output);
            _engines.Add(engine); // one that failed goes: it may be left in the middle of something
        });
    }
}
