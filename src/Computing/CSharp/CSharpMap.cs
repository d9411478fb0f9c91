using System.Buffers;
using Treepie.Computations;
using Treepie.Computing.Values;
using Treepie.Store;

namespace Treepie.Computing.CSharp;

/// <summary>A map in C#.</summary>
internal sealed class CSharpMap : IndexMap
{
    private readonly Func<Run, Value> _compiled;
    private readonly TextShape _shape;

    private CSharpMap(TextSource source, TextShape shape, Func<Run, Value> compiled)
    {
        _compiled = compiled;
        _shape = shape;
        Collections = [.. source.Collections.Distinct(StringComparer.OrdinalIgnoreCase)];
        Source = source.Source;
        BesideName = source.BesideName;
        LoadedCollections = [.. source.Loaded];
        LoadsCompareExchange = source.LoadsCompareExchange;
    }

    public override IReadOnlyList<string> Collections { get; }

    public override IndexSourceType Source { get; }

    public override string? BesideName { get; }

    public override IReadOnlyList<MappedField> Fields => _shape.Fields;

    public override IReadOnlyCollection<string> Copied => _shape.Copied;

    public override IReadOnlyList<string> LoadedCollections { get; }

    public override bool LoadsCompareExchange { get; }

    public override bool HasBoost => _shape.HasBoost;

    public override bool HasDynamicFields => _shape.HasDynamicFields;

    public override bool IsSingle => _shape.IsSingle;

    /// <exception cref="InvalidIndexDefinitionException">The text is not a map.</exception>
    public static CSharpMap Compile(IndexTexts index, string text)
    {
        TextSource source = TextSource.OfMap(index, text);
        TextShape shape = TextShape.Of(source);
        Func<Run, Value> compiled = new TextCompiler(source).Compile(source.Text);
        return source.HasSource
            ? new CSharpMap(source, shape, compiled)
            : throw source.Refuse(
                source.Text, "it takes no documents: a map begins with 'from … in docs.…' or 'docs.….Select('.");
    }

    public override void Map(Document document, IMapHost host, MapOutput output)
    {
        ReadOnlySpan<byte> body = document.Body;
        byte[] held = ArrayPool<byte>.Shared.Rent(body.Length);
        try
        {
            body.CopyTo(held);
            var members = new DocumentMembers(held.AsMemory(0, body.Length), document.IdText(), host);
            var run = new Run(host, Value.Of([Value.Of(members)]));
            TextResults.Write(run, _compiled, output, HasDynamicFields);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(held, clearArray: true); // the database may be encrypted
        }
    }
}
