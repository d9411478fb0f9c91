using System.Collections.Concurrent;
using System.Text;
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
    private readonly MapScriptShape _shape;

    private JavaScriptMap(IndexTexts index, IReadOnlyList<Prepared<Acornima.Ast.Script>> scripts)
    {
        _scripts = scripts;
        _shape = MapScriptShape.Of(index, scripts.Select(static script => (Node)script.Program!)); // it was parsed
        LoadedCollections = [.. _shape.Loaded];
        MapEngine first;
        try
        {
            first = MapEngine.OfMap(scripts);
        }
        catch (Exception error) when (error is JintException or InvalidOperationException)
        {
            throw new InvalidIndexDefinitionException(index.IndexName, "Maps", $"a map cannot be run: {error.Message}");
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
    public static JavaScriptMap Compile(IndexTexts index, string text) =>
        new(index, MapScripts.Parse(index, "Maps", text));

    public override void Map(Document document, IMapHost host, MapOutput output)
    {
        MapEngine engine = _engines.TryTake(out MapEngine? free) ? free : MapEngine.OfMap(_scripts);
        try
        {
            MapScripts.Write(engine.Run(Encoding.UTF8.GetString(host.WholeDocument()), host), output);
        }
        catch (Exception error) when (MapScripts.IsOfScript(error))
        {
            throw new ComputationException(error.Message, error); // the engine goes: whoever broke off may have left anything
        }

        _engines.Add(engine);
    }
}
