using Acornima.Ast;
using Jint;
using Treepie.Computations;
using Treepie.Store;

namespace Treepie.Computing.JavaScript;

/// <summary>A map in JavaScript: <c>map('Users', u =&gt; ({ … }))</c>.</summary>
internal sealed class JavaScriptMap : IndexMap
{
    private readonly MapEngines _engines;
    private readonly MapScriptShape _shape;

    private JavaScriptMap(
        IndexTexts index, string text, IReadOnlyList<Prepared<Acornima.Ast.Script>> scripts, ScriptLimits limits)
    {
        Prepared<Acornima.Ast.Script> texts = MapScripts.AsFunction(MapEngine.Texts, index, text);
        _engines = new MapEngines(limits, granted => MapEngine.OfMap(texts, granted));
        _shape = MapScriptShape.Of(index, [.. scripts.Select(static script => (Node)script.Program!)]); // all were parsed
        LoadedCollections = [.. _shape.Loaded];
        MapEngine first;
        try
        {
            first = _engines.MakeFirst();
        }
        catch (Exception error) when (MapScripts.MessageOf(error, limits.OfBusyMachine) is { } message)
        {
            throw new InvalidIndexDefinitionException(index.IndexName, "Maps", $"a map cannot be run: {message}");
        }

        Collections = string.Equals(first.Collection, MapEngine.AllDocuments, StringComparison.OrdinalIgnoreCase)
            ? []
            : [first.Collection];
        Source = first.Source;
        BesideName = first.BesideName;
    }

    public override IReadOnlyList<string> Collections { get; }

    public override IndexSourceType Source { get; }

    public override string? BesideName { get; }

    public override IReadOnlyList<MappedField> Fields => _shape.Fields;

    public override IReadOnlyList<string> LoadedCollections { get; }

    public override bool LoadsCompareExchange => _shape.LoadsCompareExchange;

    public override bool HasBoost => _shape.HasBoost;

    public override bool IsOpen => _shape.IsOpen;

    public override bool HasDynamicFields => _shape.HasDynamicFields;

    /// <exception cref="InvalidIndexDefinitionException">The text is not a map.</exception>
    public static JavaScriptMap Compile(IndexTexts index, string text, ScriptLimits limits) =>
        new(index, text, MapScripts.Parse(index, "Maps", text), limits);

    public override void Map(Document document, IMapHost host, MapOutput output) =>
        _engines.Run(output, engine => engine.Run(host.WholeDocument(), host, output, HasDynamicFields));
}
