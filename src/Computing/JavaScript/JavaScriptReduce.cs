using System.Collections.Concurrent;
using Jint;
using Treepie.Computations;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// A reduce whose text is JavaScript: <c>groupBy(x =&gt; ({ City: x.City })).aggregate(g =&gt; ({ City: g.key.City, N:
/// g.values.reduce((s, x) =&gt; s + x.N, 0) }))</c>.
/// </summary>
internal sealed class JavaScriptReduce : IndexReduce
{
    private readonly ConcurrentBag<MapEngine> _engines = [];
    private readonly IReadOnlyList<Prepared<Acornima.Ast.Script>> _scripts;
    private readonly ScriptLimits _limits;

    private JavaScriptReduce(IndexTexts index, IReadOnlyList<Prepared<Acornima.Ast.Script>> scripts, ScriptLimits limits)
    {
        _limits = limits;
        _scripts = scripts;
        ReduceScriptShape shape = ReduceScriptShape.Of(index, scripts[^1].Program!); // it was parsed
        (Keys, Fields) = (shape.Keys, shape.Fields);
        try
        {
            _engines.Add(MapEngine.OfReduce(scripts, limits));
        }
        catch (Exception error) when (MapScripts.MessageOf(error, limits) is { } message)
        {
            throw new InvalidIndexDefinitionException(index.IndexName, "Reduce", $"the reduce cannot be run: {message}");
        }
    }

    public override IReadOnlyList<string> Keys { get; }

    public override IReadOnlyList<MappedField> Fields { get; }

    /// <exception cref="InvalidIndexDefinitionException">The text is none.</exception>
    public static JavaScriptReduce Compile(IndexTexts index, string text, ScriptLimits limits) =>
        new(index, MapScripts.Parse(index, "Reduce", text), limits);

    public override void Reduce(IReadOnlyList<ReadOnlyMemory<byte>> values, MapOutput output)
    {
        MapScripts.Run(_limits, () =>
        {
            MapEngine engine = _engines.TryTake(out MapEngine? free) ? free : MapEngine.OfReduce(_scripts, _limits);
            engine.Reduce(values, output);
            _engines.Add(engine); // one that failed goes: it may be left in the middle of something
        });
    }
}
