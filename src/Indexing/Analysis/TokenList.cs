namespace Treepie.Indexing.Analysis;

/// <summary>
/// A sink that keeps what it is given: the terms of a query, or what an analyzer of someone else's makes of a value.
/// </summary>
internal sealed class TokenList : TokenSink, IReusable
{
    private readonly List<Token> _tokens = [];

    /// <summary>A term with its place.</summary>
    public readonly record struct Token(byte[] Form, int Position, int Start, int End);

    public IReadOnlyList<Token> Tokens => _tokens;

    /// <summary>The terms of a text.</summary>
    public static IReadOnlyList<Token> Of(Analyzer analyzer, ReadOnlySpan<byte> text)
    {
        var list = new TokenList();
        analyzer.Analyze(text, list);
        return list.Tokens;
    }

    /// <inheritdoc/>
    public void Clear()
    {
        const int KeptBytes = 256;
        _tokens.Clear();
        Begin(0);
        End(KeptBytes);
    }

    private protected override void Accept(ReadOnlySpan<byte> form, int position, int start, int end) =>
        _tokens.Add(new Token(form.ToArray(), position, start, end));
}
