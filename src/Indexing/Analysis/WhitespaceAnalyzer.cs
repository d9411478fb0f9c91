using System.Buffers;
using System.Text;

namespace Treepie.Indexing.Analysis;

/// <summary>
/// Splits a text at white space (of any script), without changing the words or with full case folding:
/// <c>WhitespaceAnalyzer</c>, <c>LowerCaseWhitespaceAnalyzer</c>.
/// </summary>
internal sealed class WhitespaceAnalyzer(bool isFolded = false) : Analyzer
{
    // ASCII white space, and the first bytes of other white space in UTF-8: U+0085, U+00A0, U+1680, U+2000 to U+205F,
    // U+3000.
    private static readonly SearchValues<byte> _perhapsSpace = SearchValues.Create(
        [9, 10, 11, 12, 13, 32, 0xC2, 0xE1, 0xE2, 0xE3]);

    public override void Analyze(ReadOnlySpan<byte> text, TokenSink sink)
    {
        int start = 0;
        int place = 0;
        while (place < text.Length)
        {
            int next = text[place..].IndexOfAny(_perhapsSpace);
            place = next < 0 ? text.Length : place + next;
            if (place == text.Length)
                break;

            bool isSpace = Rune.DecodeFromUtf8(text[place..], out Rune rune, out int length) == OperationStatus.Done
                && Rune.IsWhiteSpace(rune);
            if (isSpace)
            {
                Take(text, start, place, sink);
                start = place + length;
            }

            place += length;
        }

        Take(text, start, text.Length, sink);
    }

    public override byte[] Normalize(ReadOnlySpan<byte> fragment) => isFolded ? base.Normalize(fragment) : fragment.ToArray();

    private void Take(ReadOnlySpan<byte> text, int start, int end, TokenSink sink)
    {
        if (start >= end)
            return;

        ReadOnlySpan<byte> word = text[start..end];
        if (isFolded)
        {
            sink.Scratch.Clear();
            sink.Scratch.AppendFolded(word);
            word = sink.Scratch.Written;
        }

        sink.Add(word, start, end);
    }
}
