using System.Collections.Concurrent;
using System.Text;
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

    private JavaScriptReduce(IndexTexts index, IReadOnlyList<Prepared<Acornima.Ast.Script>> scripts)
    {
        _scripts = scripts;
        ReduceScriptShape shape = ReduceScriptShape.Of(index, scripts[^1].Program!); // it was parsed
        (Keys, Fields) = (shape.Keys, shape.Fields);
        try
        {
            _engines.Add(MapEngine.OfReduce(scripts));
        }
        catch (Exception error) when (error is JintException or InvalidOperationException)
        {
            throw new InvalidIndexDefinitionException(index.IndexName, "Reduce", $"the reduce cannot be run: {error.Message}");
        }
    }

    public override IReadOnlyList<string> Keys { get; }

    public override IReadOnlyList<MappedField> Fields { get; }

    /// <exception cref="InvalidIndexDefinitionException">The text is none.</exception>
    public static JavaScriptReduce Compile(IndexTexts index, string text) => new(index, MapScripts.Parse(index, "Reduce", text));

    public override void Reduce(IReadOnlyList<ReadOnlyMemory<byte>> values, MapOutput output)
    {
        MapEngine engine = _engines.TryTake(out MapEngine? free) ? free : MapEngine.OfReduce(_scripts);
        try
        {
            MapScripts.Write(engine.Reduce([.. values.Select(static value => Encoding.UTF8.GetString(value.Span))]), output);
        }
        catch (Exception error) when (MapScripts.IsOfScript(error))
        {
            throw new ComputationException(error.Message, error); // the engine goes: whoever broke off may have left anything
        }

        _engines.Add(engine);
    }
}
