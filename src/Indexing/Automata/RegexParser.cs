using System.Globalization;
using System.Text;

namespace Treepie.Indexing.Automata;

/// <summary>
/// Parses a regular expression: <c>. [a-z] [^…] | ( ) (?: ) * + ? {n,m} ^ $</c> and
/// <c>\d \w \s \D \W \S \p{L} \t \n \r \xHH \uHHHH</c>. A question mark after a repetition is accepted and has no effect,
/// because only whether a term matches is of interest, not where.
/// </summary>
internal sealed class RegexParser(string pattern, bool isFolded)
{
    /// <summary>Length of the longest expression in characters.</summary>
    public const int MaxLength = 1_024;

    /// <summary>Deepest nesting of groups.</summary>
    public const int MaxDepth = 64;

    /// <summary>Largest number of a repetition.</summary>
    public const int MaxRepeat = 1_000;

    private int _place;
    private int _depth;

    private bool IsAtEnd => _place >= pattern.Length;

    public RegexNode Parse()
    {
        if (pattern.Length > MaxLength)
            throw new IndexQueryException(
                $"The regular expression has {pattern.Length:N0} characters; {MaxLength:N0} is the most.");
        RegexNode root = ParseChoice();
        return IsAtEnd ? root : throw Error("there is no '(' before this ')'");
    }

    private RegexNode ParseChoice()
    {
        var parts = new List<RegexNode> { ParseSequence() };
        while (Take('|'))
            parts.Add(ParseSequence());
        return parts.Count == 1 ? parts[0] : new RegexChoice(parts);
    }

    private RegexSequence ParseSequence()
    {
        var parts = new List<RegexNode>();
        while (!IsAtEnd && pattern[_place] is not ('|' or ')'))
        {
            RegexNode part = ParseAtom();
            parts.Add(ParseRepeat(part));
        }

        return new RegexSequence(parts);
    }

    private RegexNode ParseRepeat(RegexNode body)
    {
        if (!TakeRepeat(out int least, out int? most))
            return body;
        if (body is RegexAnchor)
            throw Error("'^' and '$' cannot be repeated");

        Take('?');
        if (!IsAtEnd && (pattern[_place] is '*' or '+' or '?' || IsCount(out _, out _, out _)))
            throw Error("a repetition cannot be repeated: put the first one in parentheses");
        return new RegexRepeat(body, least, most);
    }

    private bool TakeRepeat(out int least, out int? most)
    {
        (least, most) = (0, null);
        if (Take('*'))
            return true;
        if (Take('+'))
        {
            least = 1;
            return true;
        }

        if (Take('?'))
        {
            most = 1;
            return true;
        }

        if (!IsCount(out least, out most, out int end))
            return false;
        if (most < least)
            throw Error("the least number of a repetition is greater than the most");
        _place = end;
        return true;
    }

    /// <summary>Whether {n}, {n,} or {n,m} follows. Any other brace is a literal.</summary>
    private bool IsCount(out int least, out int? most, out int end)
    {
        (least, most, end) = (0, null, _place);
        if (IsAtEnd || pattern[_place] != '{')
            return false;
        int close = pattern.IndexOf('}', _place);
        if (close < 0)
            return false;

        string[] numbers = pattern[(_place + 1)..close].Split(',');
        if (numbers.Length > 2
            || !IsNumber(numbers[0])
            || (numbers.Length == 2 && numbers[1].Length > 0 && !IsNumber(numbers[1])))
            return false;
        least = Number(numbers[0]);
        most = numbers.Length == 1 ? least : numbers[1].Length == 0 ? null : Number(numbers[1]);
        end = close + 1;
        return true;
    }

    private static bool IsNumber(string text) => text.Length > 0 && text.AsSpan().IndexOfAnyExceptInRange('0', '9') < 0;

    private int Number(string text) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int number) && number <= MaxRepeat
            ? number
            : throw Error($"a repetition goes up to {MaxRepeat:N0} times");

    private RegexNode ParseAtom()
    {
        switch (pattern[_place])
        {
            case '(':
                return ParseGroup();
            case '[':
                _place++;
                return new RegexSet(ParseClass());
            case '.':
                _place++;
                return new RegexSet(CharacterSet.Of('\n').Complement());
            case '^':
                _place++;
                return new RegexAnchor(IsStart: true);
            case '$':
                _place++;
                return new RegexAnchor(IsStart: false);
            case '*' or '+' or '?':
                throw Error("there is nothing before it to repeat");
            case '\\':
                _place++;
                return ParseEscape(inClass: false) is { } set ? new RegexSet(set) : TextOf(ParseEscapedCharacter());
            default:
                return TextOf(TakeRune());
        }
    }

    private static RegexText TextOf(int character) => new(new Rune(character).ToString());

    private RegexNode ParseGroup()
    {
        if (++_depth > MaxDepth)
            throw Error($"more than {MaxDepth} groups are nested in one another");
        _place++;
        if (Take('?'))
            SkipGroupKind();
        RegexNode body = ParseChoice();
        if (!Take(')'))
            throw Error("a ')' is missing");
        _depth--;
        return body;
    }

    /// <summary>
    /// Skips what follows <c>(?</c>. Groups may have a name, which is ignored because captures are not reported.
    /// </summary>
    private void SkipGroupKind()
    {
        if (Take(':'))
            return;
        bool isNamed = Take('<') && !IsAtEnd && pattern[_place] is not ('=' or '!');
        int close = isNamed ? pattern.IndexOf('>', _place) : -1;
        if (close < 0)
            throw Error("lookahead, lookbehind, options and other special groups are not supported; '(?:' and '(?<name>' are");
        _place = close + 1;
    }

    private CharacterSet ParseClass()
    {
        bool isNegated = Take('^');
        CharacterSet set = CharacterSet.None;
        for (bool isFirst = true; ; isFirst = false)
        {
            if (IsAtEnd)
                throw Error("a ']' is missing");
            if (!isFirst && Take(']'))
                break;

            if (TryTakeClassSet() is { } whole)
            {
                set = set.Union(whole);
                continue;
            }

            int first = TakeClassCharacter();
            int last = first;
            if (_place + 1 < pattern.Length && pattern[_place] == '-' && pattern[_place + 1] != ']')
            {
                _place++;
                if (pattern[_place] == '[')
                    throw Error("subtracting characters from a class is not supported");
                last = TakeClassCharacter();
                if (last < first)
                    throw Error("the range is in reverse order");
            }

            set = set.Union(CharacterSet.OfRange(first, last));
        }

        // Terms are already folded, so a character that a negated class excludes is excluded in both cases.
        if (isFolded)
            set = set.Folded();
        return isNegated ? set.Complement() : set;
    }

    private CharacterSet? TryTakeClassSet()
    {
        if (pattern[_place] != '\\')
            return null;
        int start = _place++;
        CharacterSet? set = ParseEscape(inClass: true);
        if (set is null)
            _place = start;
        return set;
    }

    private int TakeClassCharacter()
    {
        if (!Take('\\'))
            return TakeRune();
        if (Take('b'))
            return '\b';
        return ParseEscapedCharacter();
    }

    /// <summary>Parses a character class after a backslash; null if it is a single character.</summary>
    private CharacterSet? ParseEscape(bool inClass)
    {
        if (IsAtEnd)
            throw Error("it ends with a '\\'");
        switch (pattern[_place])
        {
            case 'd': _place++; return CharacterSet.Digits;
            case 'D': _place++; return CharacterSet.Digits.Complement();
            case 's': _place++; return CharacterSet.Spaces;
            case 'S': _place++; return CharacterSet.Spaces.Complement();
            case 'w': _place++; return CharacterSet.WordCharacters;
            case 'W': _place++; return CharacterSet.WordCharacters.Complement();
            case 'p' or 'P':
                bool isNegated = pattern[_place++] == 'P';
                int close = Take('{') ? pattern.IndexOf('}', _place) : -1;
                CharacterSet category = (close < 0 ? null : CharacterSet.OfCategory(pattern[_place..close]))
                    ?? throw Error("a category is written \\p{L}, \\p{Lu}, \\p{Nd}, …");
                _place = close + 1;
                if (isFolded)
                    category = category.Folded();
                return isNegated ? category.Complement() : category;
            case 'b' or 'B' or 'A' or 'z' or 'Z' or 'G' when !inClass:
                throw Error($"'\\{pattern[_place]}' is not supported; '^' and '$' match the start and end of the term");
            case (>= '1' and <= '9') or 'k' when !inClass:
                throw Error("references to groups are not supported");
            default:
                return null;
        }
    }

    private int ParseEscapedCharacter()
    {
        if (IsAtEnd)
            throw Error("it ends with a '\\'");
        switch (pattern[_place])
        {
            case 't': _place++; return '\t';
            case 'n': _place++; return '\n';
            case 'r': _place++; return '\r';
            case 'f': _place++; return '\f';
            case 'v': _place++; return '\v';
            case 'e': _place++; return 0x1B;
            case 'x': _place++; return Hex(2);
            case 'u': _place++; return Hex(4);
            case var letter when char.IsAsciiLetterOrDigit(letter):
                throw Error($"'\\{letter}' has no meaning");
            default: return TakeRune();
        }
    }

    private int Hex(int digits)
    {
        if (_place + digits > pattern.Length
            || !int.TryParse(
                pattern.AsSpan(_place, digits), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out int value)
            || !Rune.IsValid(value))
        {
            throw Error($"{digits} hexadecimal digits of a character are expected");
        }

        _place += digits;
        return value;
    }

    private int TakeRune()
    {
        if (Rune.TryGetRuneAt(pattern, _place, out Rune rune))
        {
            _place += rune.Utf16SequenceLength;
            return rune.Value;
        }

        _place++;
        return Rune.ReplacementChar.Value; // an unpaired surrogate
    }

    private bool Take(char wanted)
    {
        if (IsAtEnd || pattern[_place] != wanted)
            return false;
        _place++;
        return true;
    }

    private IndexQueryException Error(string problem)
    {
        string shown = pattern.Length <= 120 ? pattern : pattern[..120] + "…";
        return new IndexQueryException(
            $"The regular expression '{shown}' cannot be read at character {Math.Min(_place, pattern.Length) + 1}: {problem}.");
    }
}
