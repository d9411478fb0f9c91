using System.Text;
using System.Text.RegularExpressions;

namespace Treepie.Indexing.Analysis;

/// <summary>
/// Splits a text at the matches of a regular expression, with full case folding: <c>PatternAnalyzer</c> (splits at anything
/// but letters, digits and underscores) or <c>PatternAnalyzer(;)</c>. The expression is matched without backtracking, so the
/// time is proportional to the length of the text for any expression.
/// </summary>
internal sealed class PatternAnalyzer : Analyzer
{
    public const string DefaultPattern = @"\W+";

    /// <summary>Length of the longest expression in characters.</summary>
    public const int MaxPatternCharacters = 1_024;

    private readonly Lazy<Regex> _separator;

    /// <summary>
    /// Uses the default expression. It is compiled when the first text is analyzed, because most processes never need it and
    /// would otherwise wait for it when they open their first index.
    /// </summary>
    public PatternAnalyzer() => _separator = new Lazy<Regex>(static () => Compile(DefaultPattern));

    /// <exception cref="ArgumentException">The expression is too long, not valid, or needs backtracking (lookaround,
    /// backreferences).</exception>
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

    /// <summary>
    /// Creates an expression that is matched without backtracking, in time proportional to the length of the text.
    /// </summary>
    /// <exception cref="ArgumentException">The expression is too long, not valid, or needs backtracking (lookaround,
    /// backreferences).</exception>
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

        // An invalid byte is decoded to a character of three bytes, so places after it may be beyond the end of the text.
        sink.Add(sink.Scratch.Written, Math.Min(startByte, textBytes), Math.Min(end, textBytes));
        startByte = end;
    }
}
