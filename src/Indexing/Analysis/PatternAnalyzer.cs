using System.Text;
using System.Text.RegularExpressions;

namespace Treepie.Indexing.Analysis;

/// <summary>
/// What stands between matches of a regular expression, in full case folding: <c>PatternAnalyzer</c> (between runs of
/// anything but letters, digits and underscores) or <c>PatternAnalyzer(;)</c>. The expression is matched without
/// backtracking, so time is in proportion to the text whatever the expression is.
/// </summary>
internal sealed class PatternAnalyzer : Analyzer
{
    public const string DefaultPattern = @"\W+";

    /// <summary>Longest expression.</summary>
    public const int MaxPatternCharacters = 1_024;

    private readonly Lazy<Regex> _separator;

    /// <summary>
    /// The default expression, which is compiled when a text is analyzed: most processes never do, and would wait for it when
    /// they open their first index.
    /// </summary>
    public PatternAnalyzer() => _separator = new Lazy<Regex>(static () => Compile(DefaultPattern));

    /// <exception cref="ArgumentException">The expression is too long, not valid, or needs backtracking (lookaround, back
    /// references).</exception>
    public PatternAnalyzer(string pattern)
    {
        try
        {
            Regex separator = Create(pattern);
            _separator = new Lazy<Regex>(separator);
        }
        catch (ArgumentException error)
        {
            throw new ArgumentException(
                $"The expression of the PatternAnalyzer({Shown(pattern)}) cannot be used: {error.Message}", error);
        }
    }

    /// <summary>An expression that is matched without backtracking, in time in proportion to the text.</summary>
    /// <exception cref="ArgumentException">It is too long, not valid, or needs backtracking (lookaround, back
    /// references).</exception>
    public static Regex Create(string pattern)
    {
        if (pattern.Length > MaxPatternCharacters)
            throw new ArgumentException($"It has {pattern.Length} characters; {MaxPatternCharacters} is the most.");
        try
        {
            return Compile(pattern);
        }
        catch (NotSupportedException error)
        {
            throw new ArgumentException(error.Message, error);
        }
    }

    public override void Analyze(ReadOnlySpan<byte> text, TokenSink sink)
    {
        string decoded = Encoding.UTF8.GetString(text);
        int start = 0;
        int startByte = 0;
        foreach (ValueMatch match in _separator.Value.EnumerateMatches(decoded))
        {
            Take(decoded.AsSpan(start, match.Index - start), ref startByte, text.Length, sink);
            startByte += Encoding.UTF8.GetByteCount(decoded.AsSpan(match.Index, match.Length));
            start = match.Index + match.Length;
        }

        Take(decoded.AsSpan(start), ref startByte, text.Length, sink);
    }

    private static Regex Compile(string pattern) => new(pattern, RegexOptions.NonBacktracking | RegexOptions.CultureInvariant);

    private static string Shown(string pattern) =>
        pattern.Length <= MaxPatternCharacters ? pattern : pattern[..MaxPatternCharacters] + "…";

    private static void Take(ReadOnlySpan<char> piece, ref int startByte, int textBytes, TokenSink sink)
    {
        if (piece.IsEmpty)
            return;

        sink.Scratch.Clear();
        foreach (Rune rune in piece.EnumerateRunes())
            sink.Scratch.AppendFolded(rune);
        int end = startByte + Encoding.UTF8.GetByteCount(piece);

        // A broken byte is decoded to three, so places behind one may lie beyond the text.
        sink.Add(sink.Scratch.Written, Math.Min(startByte, textBytes), Math.Min(end, textBytes));
        startByte = end;
    }
}
