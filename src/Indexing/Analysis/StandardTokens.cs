using System.Buffers;
using System.Text;

namespace Treepie.Indexing.Analysis;

/// <summary>
/// Enumerates the words of a text in full case folding, with their places. Word boundaries follow UAX #29: runs of letters
/// and digits, an apostrophe or full stop inside a word (<c>don't</c>, <c>example.com</c>), a comma or full stop inside a
/// number (<c>1,000.5</c>), quotes inside Hebrew words, one word per Han or Hiragana character, one per picture (an emoji
/// with everything joined to it, a flag). Works for any text in any script, including invalid UTF-8.
/// </summary>
/// <remarks>
/// Beyond these rules: runs of scripts written without spaces (Thai, Khmer) are not split, because there is no dictionary.
/// </remarks>
internal ref struct StandardTokens(ReadOnlySpan<byte> text, TokenBuffer buffer)
{
    private static readonly SearchValues<byte> _asciiWord =
        SearchValues.Create("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"u8);

    /// <summary>The usual separator of words.</summary>
    private const byte Blank = (byte)' ';

    /// <summary>Zero-width joiner.</summary>
    private static readonly Rune _joiner = new(0x200D);

    private readonly int _length = text.Length;
    private ReadOnlySpan<byte> _rest = text;

    /// <summary>The current word; valid until the next move.</summary>
    public readonly ReadOnlySpan<byte> Current => buffer.Written;

    /// <summary>Where the current word begins in the text, in bytes.</summary>
    public int Start { get; private set; }

    /// <summary>Where the current word ends in the text, in bytes.</summary>
    public readonly int End => _length - _rest.Length;

    /// <summary>Moves to the next word; false after the last.</summary>
    public bool MoveNext()
    {
        buffer.Clear();
        while (!_rest.IsEmpty)
        {
            if (_rest[0] == Blank)
            {
                _rest = _rest[1..];
                continue;
            }

            Start = End;
            WordClass first = Peek(_rest, out Rune rune, out int bytes);
            switch (first)
            {
                case WordClass.Letter or WordClass.Hebrew or WordClass.Digit or WordClass.Katakana or WordClass.Connector:
                    if (ReadWord(first))
                        return true;
                    buffer.Clear();
                    break;
                case WordClass.Ideograph:
                    Take(rune, bytes);
                    TakeExtensions();
                    return true;
                case WordClass.Picture:
                    ReadPicture(rune, bytes);
                    return true;
                case WordClass.Flag:
                    Take(rune, bytes);
                    if (TakeExtensions() == default && Peek(_rest, out rune, out bytes) == WordClass.Flag)
                    {
                        Take(rune, bytes);
                        TakeExtensions();
                    }

                    return true;
                default:
                    _rest = _rest[bytes..];
                    break;
            }
        }

        return false;
    }

    /// <summary>Reads a run of characters; false if it consists of connectors only.</summary>
    private bool ReadWord(WordClass first)
    {
        bool hasWord = false;
        WordClass last = first;
        while (!_rest.IsEmpty)
        {
            if (_rest[0] < 128 && last != WordClass.Katakana && TakeAscii(ref last, ref hasWord))
            {
                if (!_rest.IsEmpty && _rest[0] == Blank)
                    break; // a blank joins nothing
                continue;
            }

            WordClass next = Peek(_rest, out Rune rune, out int bytes);
            if (next == WordClass.Extend)
            {
                Take(rune, bytes);
            }
            else if (Joins(last, next))
            {
                Take(rune, bytes);
                last = next;
                hasWord |= next != WordClass.Connector;
            }
            else if (JoinsThrough(last, next, rune, _rest[bytes..]))
            {
                Take(rune, bytes);
            }
            else
            {
                break;
            }
        }

        return hasWord;
    }

    /// <summary>Takes a run of ASCII letters and digits at once; false if there is none at the current place.</summary>
    private bool TakeAscii(ref WordClass last, ref bool hasWord)
    {
        int run = _rest.IndexOfAnyExcept(_asciiWord);
        if (run < 0)
            run = _rest.Length;
        if (run == 0)
            return false;

        Ascii.ToLower(_rest[..run], buffer.Room(run), out int written);
        buffer.Advance(written);
        last = _rest[run - 1] <= '9' ? WordClass.Digit : WordClass.Letter;
        hasWord = true;
        _rest = _rest[run..];
        return true;
    }

    /// <summary>Takes a picture with its variation selectors, and the pictures joined to it.</summary>
    private void ReadPicture(Rune rune, int bytes)
    {
        Take(rune, bytes);
        while (TakeExtensions() == _joiner && Peek(_rest, out rune, out bytes) == WordClass.Picture)
            Take(rune, bytes);
    }

    /// <summary>Takes marks and format characters; returns the last of them, or the default value if there is none.</summary>
    private Rune TakeExtensions()
    {
        Rune last = default;
        while (Peek(_rest, out Rune rune, out int bytes) == WordClass.Extend)
        {
            Take(rune, bytes);
            last = rune;
        }

        return last;
    }

    private void Take(Rune rune, int bytes)
    {
        buffer.AppendFolded(rune);
        _rest = _rest[bytes..];
    }

    private static bool IsLetter(WordClass value) => value is WordClass.Letter or WordClass.Hebrew;

    private static bool Joins(WordClass last, WordClass next) => next switch
    {
        WordClass.Letter or WordClass.Hebrew or WordClass.Digit =>
            last is WordClass.Letter or WordClass.Hebrew or WordClass.Digit or WordClass.Connector,
        WordClass.Katakana => last is WordClass.Katakana or WordClass.Connector,
        WordClass.Connector => true,
        _ => false,
    };

    /// <summary>Whether a character joins the characters on both its sides; marks after it are skipped.</summary>
    private static bool JoinsThrough(WordClass last, WordClass middle, Rune rune, ReadOnlySpan<byte> after)
    {
        if (middle is not (WordClass.MidLetter or WordClass.MidNumber or WordClass.MidBoth or WordClass.DoubleQuote))
            return false;
        if (last == WordClass.Hebrew && rune.Value == '\'')
            return true; // a geresh, also at the end of a word

        WordClass next = Peek(after, out _, out int bytes);
        while (next == WordClass.Extend)
        {
            after = after[bytes..];
            next = Peek(after, out _, out bytes);
        }

        return middle switch
        {
            WordClass.DoubleQuote => last == WordClass.Hebrew && next == WordClass.Hebrew,
            WordClass.MidLetter => IsLetter(last) && IsLetter(next),
            WordClass.MidNumber => last == WordClass.Digit && next == WordClass.Digit,
            _ => (IsLetter(last) && IsLetter(next)) || (last == WordClass.Digit && next == WordClass.Digit),
        };
    }

    private static WordClass Peek(ReadOnlySpan<byte> text, out Rune rune, out int bytes)
    {
        // Invalid UTF-8 is U+FFFD, which separates words, as does the end of the text.
        OperationStatus status = Rune.DecodeFromUtf8(text, out rune, out bytes);
        return status == OperationStatus.Done ? WordClasses.Of(rune) : WordClass.Other;
    }
}
