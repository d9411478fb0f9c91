using Jint;
using Treepie.Computations;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// A reduce in JavaScript: <c>groupBy(x =&gt; ({ City: x.City })).aggregate(g =&gt; ({ City: g.key.City, N:
/// g.values.reduce((s, x) =&gt; s + x.N, 0) }))</c>.
/// </summary>
internal sealed class JavaScriptReduce : IndexReduce
{
    private readonly MapEngines _engines;

    private JavaScriptReduce(
        IndexTexts index, string text, IReadOnlyList<Prepared<Acornima.Ast.Script>> scripts, ScriptLimits limits)
    {
        Prepared<Acornima.Ast.Script> texts = MapScripts.AsFunction(MapEngine.Texts, index, text);
        _engines = new MapEngines(limits, granted => MapEngine.OfReduce(texts, granted));
        ReduceScriptShape shape = ReduceScriptShape.Of(
            index, [.. scripts.Select(static script => script.Program!)]); // all were parsed
        (Keys, Fields, HasDynamicFields) = (shape.Keys, shape.Results.Fields, shape.HasDynamicFields);
        IsOpen = shape.Results.IsOpen;
        try
        {
            _engines.MakeFirst();
        }
        catch (Exception error) when (MapScripts.MessageOf(error, limits.OfBusyMachine) is { } message)
        {
            throw new InvalidIndexDefinitionException(index.IndexName, "Reduce", $"the reduce cannot be run: {message}");
        }
    }

    public override IReadOnlyList<string> Keys { get; }

    public override IReadOnlyList<MappedField> Fields { get; }

    public override bool IsOpen { get; }

    public override bool HasDynamicFields { get; }

    /// <exception cref="InvalidIndexDefinitionException">The text is not a reduce.</exception>
    public static JavaScriptReduce Compile(IndexTexts index, string text, ScriptLimits limits) =>
        new(index, text, MapScripts.Parse(index, "Reduce", text), limits);

    public override void Reduce(IReadOnlyList<ReadOnlyMemory<byte>> values, MapOutput output) =>
        _engines.Run(output, engine => engine.Reduce(values, output, HasDynamicFields));
}
