using System.Text;
using System.Text.Unicode;

namespace Treepie.Indexing.Analysis.Parts;

/// <summary>
/// An analyzer composed of character filters, a tokenizer, and term filters, which are applied in this order.
/// </summary>
internal sealed class PartsAnalyzer : Analyzer
{
    private readonly CharacterFilter[] _characters;
    private readonly Analyzer _tokenizer;
    private readonly TermFilter[] _terms;
    private readonly TermFilter[] _ofPieces;
    private readonly KeywordAnalyzer _whole = new(isFolded: false);

    public PartsAnalyzer(CharacterFilter[] characters, Analyzer tokenizer, TermFilter[] terms)
    {
        _characters = characters;
        _tokenizer = tokenizer;
        _terms = terms;
        _ofPieces = [.. terms.Where(static filter => filter.SuitsPieces)];
        ForQueries = terms.All(static filter => filter.ForQueries == filter)
            ? this
            : new PartsAnalyzer(
                characters, tokenizer, [.. terms.Select(static filter => filter.ForQueries).OfType<TermFilter>()]);
    }

    public override Analyzer ForQueries { get; }

    internal override bool MayThrow => _terms.Any(static filter => filter.MayThrow);

    public override void Analyze(ReadOnlySpan<byte> text, TokenSink sink) =>
        Run(text, sink, _characters, _tokenizer, _terms);

    public override byte[] Normalize(ReadOnlySpan<byte> fragment)
    {
        var list = new TokenList();
        Run(fragment, list, [.. _characters.Where(static filter => filter.SuitsPieces)], _whole, _ofPieces);
        return list.Tokens is [{ Form: var form }, ..] ? form : [];
    }

    private static void Run(
        ReadOnlySpan<byte> text, TokenSink sink, CharacterFilter[] characters, Analyzer tokenizer, TermFilter[] terms)
    {
        if (sink.Kept is not TermChain chain || !chain.Has(terms))
            sink.Kept = chain = new TermChain(terms);

        // Filters work on characters, so invalid UTF-8 is replaced as when decoding it; places after an invalid byte are
        // approximate.
        ReadOnlySpan<byte> whole = Utf8.IsValid(text) ? text : Encoding.UTF8.GetBytes(Encoding.UTF8.GetString(text));
        FilteredText? filtered = whole == text ? null : new FilteredText(null, text.Length);
        filtered?.Copy(whole);
        foreach (CharacterFilter filter in characters)
        {
            var next = new FilteredText(filtered, text.Length);
            filter.Apply(filtered is null ? whole : filtered.Text, next);
            filtered = next;
        }

        chain.Run(tokenizer, filtered is null ? text : filtered.Text, filtered, sink);
    }
}
