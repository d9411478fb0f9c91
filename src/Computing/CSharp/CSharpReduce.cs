using Treepie.Computations;
using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>A reduce in C#.</summary>
internal sealed class CSharpReduce : IndexReduce
{
    private readonly Func<Run, Value> _compiled;

    private CSharpReduce(IReadOnlyList<string> keys, TextShape shape, Func<Run, Value> compiled)
    {
        Keys = keys;
        Fields = shape.Fields;
        HasDynamicFields = shape.HasDynamicFields;
        _compiled = compiled;
    }

    public override IReadOnlyList<string> Keys { get; }

    public override IReadOnlyList<MappedField> Fields { get; }

    public override bool HasDynamicFields { get; }

    /// <exception cref="InvalidIndexDefinitionException">The text is not a reduce.</exception>
    public static CSharpReduce Compile(IndexTexts index, string text)
    {
        TextSource source = TextSource.OfReduce(index, text);
        TextShape shape = TextShape.Of(source);
        return new CSharpReduce(TextShape.KeysOf(source), shape, new TextCompiler(source).Compile(source.Text));
    }

    public override void Reduce(IReadOnlyList<ReadOnlyMemory<byte>> values, MapOutput output) =>
        TextResults.Write(
            new Run(null, Value.Of(values.Select(JsonValues.Read).ToList())), _compiled, output, HasDynamicFields);
}
