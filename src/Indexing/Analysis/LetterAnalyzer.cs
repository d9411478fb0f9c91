using System.Buffers;
using System.Globalization;
using System.Text;

namespace Treepie.Indexing.Analysis;

/// <summary>
/// Splits a text into runs of letters, with full case folding; everything else separates them: <c>SimpleAnalyzer</c>, and
/// with stop words <c>StopAnalyzer</c>. Marks belong to the letter that they follow.
/// </summary>
internal sealed class LetterAnalyzer(StopWords? stopWords = null) : Analyzer
{
    private static readonly SearchValues<byte> _asciiLetters = SearchValues.Create(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"u8);

    public override void Analyze(ReadOnlySpan<byte> text, TokenSink sink)
    {
        int step = 1;
        int start = 0;
        int place = 0;
        TokenBuffer word = sink.Scratch;
        word.Clear();
        while (true)
        {
            int taken = place < text.Length ? TakeLetters(text[place..], word) : 0;
            if (taken > 0)
            {
                place += taken;
                continue;
            }

            if (word.Length > 0)
            {
                if (stopWords is not null && stopWords.Contains(word.Written))
                {
                    step++;
                }
                else
                {
                    sink.Add(word.Written, start, place, step);
                    step = 1;
                }

                word.Clear();
            }

            if (place >= text.Length)
                return;
            Rune.DecodeFromUtf8(text[place..], out _, out int length);
            place += length;
            start = place;
        }
    }

    /// <summary>
    /// Takes the part of a text that belongs to a word; returns its length in bytes, or 0 if the text begins with something
    /// else.
    /// </summary>
    private static int TakeLetters(ReadOnlySpan<byte> text, TokenBuffer word)
    {
        if (text[0] < 128)
        {
            int run = text.IndexOfAnyExcept(_asciiLetters);
            if (run < 0)
                run = text.Length;
            Ascii.ToLower(text[..run], word.Room(run), out int written);
            word.Advance(written);
            return run;
        }

        if (Rune.DecodeFromUtf8(text, out Rune rune, out int length) != OperationStatus.Done)
            return 0;
        bool isMark = Rune.GetUnicodeCategory(rune) is UnicodeCategory.NonSpacingMark or UnicodeCategory.SpacingCombiningMark;
        if (!Rune.IsLetter(rune) && !(isMark && word.Length > 0))
            return 0;
        word.AppendFolded(rune);
        return length;
    }
}
