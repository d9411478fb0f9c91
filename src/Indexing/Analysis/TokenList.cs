namespace Treepie.Indexing.Analysis;

/// <summary>A sink that collects terms: those of a query, or those that a custom analyzer produces for a value.</summary>
internal sealed class TokenList : TokenSink, IReusable
{
    private readonly List<Token> _tokens = [];

    /// <summary>A term with its position and place.</summary>
    public readonly record struct Token(byte[] Form, int Position, int Start, int End);

    public IReadOnlyList<Token> Tokens => _tokens;

    /// <summary>Returns the terms of a text.</summary>
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
