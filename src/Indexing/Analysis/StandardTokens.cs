using System.Buffers;
using System.Text;

namespace Treepie.Indexing.Analysis;

/// <summary>
/// The words of a text, folded to lower case, one after the other: the standard analyzer. Word boundaries follow UAX #29:
/// runs of letters and digits, an apostrophe or full stop inside a word (<c>don't</c>, <c>example.com</c>), a comma or
/// full stop inside a number (<c>1,000.5</c>), one word per Han or Hiragana character; any text of any script, broken
/// UTF-8 included.
/// </summary>
internal ref struct StandardTokens(ReadOnlySpan<byte> text, TokenBuffer buffer)
{
    private static readonly SearchValues<byte> AsciiWord =
        SearchValues.Create("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"u8);

    private ReadOnlySpan<byte> rest = text;

    /// <summary>The current word; lives until the next move.</summary>
    public readonly ReadOnlySpan<byte> Current => buffer.Written;

    /// <summary>Goes to the next word.</summary>
    public bool MoveNext()
    {
        buffer.Clear();
        while (!rest.IsEmpty)
        {
            WordClass first = Peek(rest, out Rune rune, out int length);
            switch (first)
            {
                case WordClass.Letter or WordClass.Digit or WordClass.Katakana or WordClass.Connector:
                    if (ReadWord(first))
                        return true;
                    buffer.Clear();
                    break;
                case WordClass.Ideograph:
                    Take(rune, length);
                    TakeExtensions();
                    return true;
                default:
                    rest = rest[length..];
                    break;
            }
        }

        return false;
    }

    /// <summary>Reads a run; false if nothing but connectors was in it.</summary>
    private bool ReadWord(WordClass first)
    {
        bool hasWord = false;
        WordClass last = first;
        while (!rest.IsEmpty)
        {
            if (rest[0] < 128 && last != WordClass.Katakana && TakeAscii(ref last, ref hasWord))
                continue;

            WordClass next = Peek(rest, out Rune rune, out int length);
            if (next == WordClass.Extend)
            {
                Take(rune, length);
            }
            else if (Joins(last, next))
            {
                Take(rune, length);
                last = next;
                hasWord |= next != WordClass.Connector;
            }
            else if (JoinsThrough(last, next, rest[length..]))
            {
                Take(rune, length);
            }
            else
            {
                break;
            }
        }

        return hasWord;
    }

    /// <summary>Takes a run of ASCII letters and digits at once; false if there is none here.</summary>
    private bool TakeAscii(ref WordClass last, ref bool hasWord)
    {
        int run = rest.IndexOfAnyExcept(AsciiWord);
        if (run < 0)
            run = rest.Length;
        if (run == 0)
            return false;

        Ascii.ToLower(rest[..run], buffer.Room(run), out int written);
        buffer.Advance(written);
        last = rest[run - 1] <= '9' ? WordClass.Digit : WordClass.Letter;
        hasWord = true;
        rest = rest[run..];
        return true;
    }

    private void TakeExtensions()
    {
        while (!rest.IsEmpty && Peek(rest, out Rune rune, out int length) == WordClass.Extend)
            Take(rune, length);
    }

    private void Take(Rune rune, int length)
    {
        buffer.Append(CaseFolding.Fold(rune));
        rest = rest[length..];
    }

    private static bool Joins(WordClass last, WordClass next) => next switch
    {
        WordClass.Letter or WordClass.Digit => last is WordClass.Letter or WordClass.Digit or WordClass.Connector,
        WordClass.Katakana => last is WordClass.Katakana or WordClass.Connector,
        WordClass.Connector => true,
        _ => false,
    };

    /// <summary>Whether a character joins what stands on both its sides.</summary>
    private static bool JoinsThrough(WordClass last, WordClass middle, ReadOnlySpan<byte> after)
    {
        bool letters = last == WordClass.Letter && (middle is WordClass.MidLetter or WordClass.MidBoth);
        bool digits = last == WordClass.Digit && (middle is WordClass.MidNumber or WordClass.MidBoth);
        return (letters || digits) && !after.IsEmpty && Peek(after, out _, out _) == last;
    }

    private static WordClass Peek(ReadOnlySpan<byte> text, out Rune rune, out int length)
    {
        // Broken UTF-8 is U+FFFD, which separates words.
        OperationStatus status = Rune.DecodeFromUtf8(text, out rune, out length);
        return status == OperationStatus.Done ? WordClasses.Of(rune) : WordClass.Other;
    }
}
