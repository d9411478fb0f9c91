using System.Globalization;
using System.Text;

namespace Treepie.Indexing.Queries;

/// <summary>
/// Parses Lucene's classic query syntax: words, <c>"phrases"</c>, <c>"near one another"~3</c>, <c>wild*ca?ds</c>, <c>fuzzy~</c>,
/// <c>fuzzy~1</c>, <c>/expressions/</c>, <c>[a TO b}</c>, <c>field:word</c>, <c>field:(several words)</c>, <c>*:*</c>,
/// <c>AND OR NOT + - &amp;&amp; || !</c>, <c>boost^2</c>; <c>\</c> escapes the next character. Adjacent words are alternatives.
/// AND and OR have no precedence: AND makes both of its operands required, as in classic parsers; use parentheses to group. A
/// query with only prohibited clauses matches everything else.
/// </summary>
public static class LuceneSyntax
{
    /// <summary>The maximum length of a query in characters.</summary>
    public const int MaxLength = 1_000_000;

    /// <summary>The maximum nesting of parentheses.</summary>
    public const int MaxDepth = 64;

    /// <summary>The maximum number of words and other conditions.</summary>
    public const int MaxClauses = 16 * 1024;

    /// <summary>Parses a query.</summary>
    /// <param name="text">The query.</param>
    /// <param name="field">Returns the field of the index for a name in the query (null if it names none), and for whether a
    /// range is queried.</param>
    /// <exception cref="IndexQueryException">The query is not valid; the message says where and why.</exception>
    public static IndexQuery Parse(string text, Func<string?, bool, string> field)
    {
        ArgumentNullException.ThrowIfNull(text);
        ArgumentNullException.ThrowIfNull(field);
        if (text.Length > MaxLength)
            throw new IndexQueryException($"The text of 'lucene()' has {text.Length:N0} characters; {MaxLength:N0} is the most.");
        return new Parser(text, field).Parse();
    }

    private enum Occur
    {
        Should,
        Must,
        MustNot,
    }

    private sealed class Parser(string text, Func<string?, bool, string> resolve)
    {
        private const string Special = "+-!(){}[]^\"~*?:\\/";

        private int _place;
        private int _depth;
        private int _clauses;

        public IndexQuery Parse()
        {
            IndexQuery query = ParseClauses(null);
            return _place >= text.Length ? query : throw Error("there is no '(' before this ')'");
        }

        private IndexQuery ParseClauses(string? field)
        {
            var found = new List<(Occur Occur, IndexQuery Query)>();
            for (SkipSpace(); _place < text.Length && text[_place] != ')'; SkipSpace())
            {
                bool isAnd = TakeWord("AND") || Take("&&");
                bool isOr = !isAnd && (TakeWord("OR") || Take("||"));
                if ((isAnd || isOr) && found.Count == 0)
                    throw Error("'AND' and 'OR' belong between two conditions");

                SkipSpace();
                Occur occur = TakeWord("NOT") || Take("!") || Take("-")
                    ? Occur.MustNot
                    : Take("+") || isAnd ? Occur.Must : Occur.Should;
                SkipSpace();
                if (_place >= text.Length || text[_place] == ')')
                    throw Error("a condition is missing at the end");
                if (isAnd && found[^1].Occur == Occur.Should)
                    found[^1] = (Occur.Must, found[^1].Query);
                if (++_clauses > MaxClauses)
                    throw Error($"it has more than {MaxClauses:N0} conditions");
                found.Add((occur, ParseClause(field)));
            }

            return Combine(found);
        }

        private static IndexQuery Combine(List<(Occur Occur, IndexQuery Query)> found)
        {
            IndexQuery[] must = [.. found.Where(clause => clause.Occur == Occur.Must).Select(clause => clause.Query)];
            IndexQuery[] should = [.. found.Where(clause => clause.Occur == Occur.Should).Select(clause => clause.Query)];
            IndexQuery[] not = [
                .. found.Where(clause => clause.Occur == Occur.MustNot).Select(clause => (IndexQuery)new NotQuery(clause.Query))];
            IndexQuery any = should.Length == 1 ? should[0] : new OrQuery(should);
            if (must.Length == 0 && not.Length == 0)
                return found.Count == 0 ? new MatchNoneQuery() : any;

            // Besides required conditions, alternatives only add to the score.
            IndexQuery[] optional = should.Length == 0
                ? []
                : must.Length == 0 ? [any] : [new OrQuery([new BoostQuery(new MatchAllQuery(), 0), .. should])];
            IndexQuery[] all = [.. must, .. optional, .. not];
            return all.Length == 1 ? all[0] : new AndQuery(all);
        }

        private IndexQuery ParseClause(string? field)
        {
            if (Take("*:*"))
                return Boosted(new MatchAllQuery());

            int start = _place;
            if (TryTakeFieldName() is { } name)
            {
                field = name;
                SkipSpace();
                if (_place >= text.Length)
                    throw Error($"nothing follows '{text[start.._place].Trim()}'");
            }

            return Boosted(ParseValue(field));
        }

        private IndexQuery ParseValue(string? field)
        {
            switch (text[_place])
            {
                case '(':
                    if (++_depth > MaxDepth)
                        throw Error($"more than {MaxDepth} parentheses are nested in one another");
                    _place++;
                    IndexQuery inner = ParseClauses(field);
                    if (!Take(")"))
                        throw Error("a ')' is missing");
                    _depth--;
                    return inner;
                case '"':
                    string phrase = TakeQuoted('"');
                    return new TextQuery(resolve(field, false), phrase, Take("~") ? TakeSlop() : 0);
                case '/':
                    return new RegexQuery(resolve(field, false), TakeQuoted('/'), IsWhole: true);
                case '[' or '{':
                    return ParseRange(field);
                default:
                    return ParseWord(field);
            }
        }

        private IndexQuery ParseWord(string? field)
        {
            string raw = TakeRaw();
            if (raw.Length == 0)
                throw Error($"'{text[_place]}' is where a word is expected; '\\{text[_place]}' is the character itself");
            if (HasWildcard(raw))
                return new WildcardQuery(resolve(field, false), raw);
            return Take("~")
                ? new FuzzyQuery(resolve(field, false), Unescape(raw), TakeNumber() ?? 0.5f)
                : new TextQuery(resolve(field, false), Unescape(raw));
        }

        private RangeQuery ParseRange(string? field)
        {
            bool lowInclusive = text[_place++] == '[';
            FieldBound low = TakeBound();
            SkipSpace();
            if (!TakeWord("TO"))
                throw Error("a range is written [low TO high]; 'TO' is missing");
            FieldBound high = TakeBound();
            SkipSpace();
            bool highInclusive = Take("]");
            if (!highInclusive && !Take("}"))
                throw Error("a range ends with ']' or '}'");

            // If both given bounds are numbers, numbers are meant.
            bool numbers = (low.IsOpen || low.Number is not null) && (high.IsOpen || high.Number is not null);
            return new RangeQuery(resolve(field, true), low.Value(numbers), lowInclusive, high.Value(numbers), highInclusive);
        }

        private FieldBound TakeBound()
        {
            SkipSpace();
            if (_place < text.Length && text[_place] == '"')
                return new FieldBound(TakeQuoted('"'), null, IsOpen: false);

            int start = _place;
            while (_place < text.Length && !char.IsWhiteSpace(text[_place]) && text[_place] is not (']' or '}'))
                _place += text[_place] == '\\' && _place + 1 < text.Length ? 2 : 1;
            string raw = text[start.._place];
            if (raw.Length == 0)
                throw Error("a bound of the range is missing; '*' leaves it open");
            return raw == "*"
                ? new FieldBound("", null, IsOpen: true)
                : new FieldBound(Unescape(raw), NumberOf(raw), IsOpen: false);
        }

        /// <summary>
        /// Parses a number, which may have the prefix (Lx, Dx) that RavenDB clients put before longs and doubles.
        /// </summary>
        private static FieldValue? NumberOf(string raw)
        {
            string number = raw.Length > 2 && raw[0] is 'L' or 'D' && raw[1] == 'x' ? raw[2..] : raw;
            if (long.TryParse(number, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long whole))
                return FieldValue.Of(whole);
            return double.TryParse(number, NumberStyles.Float, CultureInfo.InvariantCulture, out double real)
                && double.IsFinite(real) ? FieldValue.Of(real) : null;
        }

        private IndexQuery Boosted(IndexQuery query)
        {
            if (!Take("^"))
                return query;
            return TakeNumber() is { } factor ? new BoostQuery(query, factor) : throw Error("a number is expected after '^'");
        }

        private int TakeSlop() =>
            TakeNumber() is { } slop && slop == (int)slop
                ? (int)slop
                : throw Error("a whole number of places is expected after '~'");

        private float? TakeNumber()
        {
            int start = _place;
            while (_place < text.Length && (char.IsAsciiDigit(text[_place]) || text[_place] == '.'))
                _place++;
            return _place == start ? null
                : float.TryParse(
                    text.AsSpan(start, _place - start), NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture,
                    out float number) ? number
                : throw Error($"'{text[start.._place]}' is not a number");
        }

        /// <summary>
        /// Reads a name and the colon after it. Returns null, without consuming anything, if there is none.
        /// </summary>
        private string? TryTakeFieldName()
        {
            int start = _place;
            string raw = TakeRaw();
            if (raw.Length > 0 && !HasWildcard(raw) && _place < text.Length && text[_place] == ':')
            {
                _place++;
                return Unescape(raw);
            }

            _place = start;
            return null;
        }

        /// <summary>Reads a word as written, including its backslashes.</summary>
        private string TakeRaw()
        {
            int start = _place;
            while (_place < text.Length && !char.IsWhiteSpace(text[_place]))
            {
                char next = text[_place];
                if (next == '\\')
                {
                    if (_place + 1 == text.Length)
                        throw Error("it ends with a '\\'");
                    _place += 2;
                    continue;
                }

                bool isInside = next is '*' or '?' || (next is '+' or '-' or '!' or '/' && _place > start);
                if (!isInside && Special.Contains(next, StringComparison.Ordinal))
                    break;
                _place++;
            }

            return text[start.._place];
        }

        private string TakeQuoted(char quote)
        {
            int start = _place++;
            var taken = new StringBuilder();
            for (; _place < text.Length; _place++)
            {
                if (text[_place] == quote)
                {
                    _place++;
                    return taken.ToString();
                }

                if (text[_place] == '\\' && _place + 1 < text.Length)
                {
                    // In a regular expression a backslash is kept, unless it escapes a slash.
                    if (quote == '/' && text[_place + 1] != '/')
                        taken.Append('\\');
                    _place++;
                }

                taken.Append(text[_place]);
            }

            _place = start;
            throw Error($"the closing {quote} is missing");
        }

        private static bool HasWildcard(string raw)
        {
            for (int i = 0; i < raw.Length; i++)
            {
                if (raw[i] == '\\')
                    i++;
                else if (raw[i] is '*' or '?')
                    return true;
            }

            return false;
        }

        private static string Unescape(string raw)
        {
            if (!raw.Contains('\\', StringComparison.Ordinal))
                return raw;
            var plain = new StringBuilder();
            for (int i = 0; i < raw.Length; i++)
                plain.Append(raw[i] == '\\' && i + 1 < raw.Length ? raw[++i] : raw[i]);
            return plain.ToString();
        }

        private void SkipSpace()
        {
            while (_place < text.Length && char.IsWhiteSpace(text[_place]))
                _place++;
        }

        private bool Take(string sign)
        {
            if (string.CompareOrdinal(text, _place, sign, 0, sign.Length) != 0)
                return false;
            _place += sign.Length;
            return true;
        }

        private bool TakeWord(string word)
        {
            int end = _place + word.Length;
            bool isWhole = end >= text.Length || char.IsWhiteSpace(text[end]) || text[end] == '(';
            return isWhole && Take(word);
        }

        private IndexQueryException Error(string problem)
        {
            int from = Math.Max(0, Math.Min(_place, text.Length) - 60);
            string shown = text[from..Math.Min(text.Length, from + 120)];
            return new IndexQueryException(
                $"The text of 'lucene()' cannot be read at character {Math.Min(_place, text.Length) + 1}: {problem}. Near: "
                    + $"{shown}");
        }

        private readonly record struct FieldBound(string Text, FieldValue? Number, bool IsOpen)
        {
            public FieldValue? Value(bool asNumber) => IsOpen ? null : asNumber ? Number : FieldValue.Of(Text);
        }
    }
}
