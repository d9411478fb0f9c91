using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Matching.Phrases;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>Compiles the text of full-text queries: words, wildcards and quoted phrases.</summary>
/// <param name="compiler">Looks up terms and combines clauses.</param>
/// <param name="context">The running query.</param>
/// <param name="isScored">Whether scores are wanted.</param>
internal sealed class TextCompiler(QueryCompiler compiler, QueryContext context, bool isScored)
{
    /// <summary>Maximum number of words in a phrase: each holds a cursor and its positions in the current entry.</summary>
    public const int MaxPhraseWords = 1_024;

    /// <summary>
    /// Maximum number of words, wildcards and phrases in one search: each takes a few kilobytes while it runs.
    /// </summary>
    public const int MaxParts = 16 * 1024;

    /// <summary>Maximum slop: above it, all words of an entry are near one another.</summary>
    public const int MaxSlop = 1_000_000;

    public Operator FullText(FullTextQuery query)
    {
        int field = context.View.Field(query.Field);
        var parts = new List<Operator>();
        int count = 0;
        for (int place = 0; TryNextPart(query.Text, ref place, out string part, out bool isQuoted);)
        {
            if (++count > MaxParts)
                throw new IndexQueryException(
                    $"What is searched in '{query.Field}' has more than {MaxParts:N0} words. Leave out those that tell least, or "
                        + $"search in several queries.");
            if ((count & 1_023) == 0)
                context.Check();
            if ((isQuoted ? Phrase(field, part, slop: 0, ordered: false) : Part(field, part)) is not { } operand)
                continue;
            if (parts.Count == 0 && place == query.Text.Length)
                return operand; // a single word is the most common search
            parts.Add(operand);
        }

        return query.All ? compiler.And(parts, whenEmpty: compiler.None()) : compiler.Or(parts);
    }

    public Operator Phrase(PhraseQuery query)
    {
        if (query.Slop is < 0 or > MaxSlop)
            throw new IndexQueryException($"The slop of a phrase is a number from 0 to {MaxSlop:N0}; {query.Slop} is not.");
        int field = context.View.Field(query.Field);
        if (!compiler.IsFullText(field))
            throw new IndexQueryException(
                $"The field '{query.Field}' has whole values: words near one another can be looked for in full-text fields "
                    + $"only.");
        return Phrase(field, query.Text, query.Slop, query.Ordered) ?? compiler.None();
    }

    /// <summary>
    /// Splits a text at white space and into quoted parts. A quote inside a word, or without a closing one, is part of the
    /// word.
    /// </summary>
    internal static IEnumerable<(string Part, bool IsQuoted)> Parts(string text)
    {
        for (int place = 0; TryNextPart(text, ref place, out string part, out bool isQuoted);)
            yield return (part, isQuoted);
    }

    /// <summary>
    /// Reads the next part at or after <paramref name="place"/> and moves past it; false if there is none.
    /// </summary>
    private static bool TryNextPart(string text, ref int place, out string part, out bool isQuoted)
    {
        part = "";
        isQuoted = false;
        while (place < text.Length && char.IsWhiteSpace(text[place]))
            place++;
        if (place == text.Length)
            return false;

        int start = place, close = text[place] == '"' ? ClosingQuote(text, place + 1) : -1;
        if (close >= 0)
        {
            isQuoted = true;
            part = text[(start + 1)..close];
            place = close + 1;
            return true;
        }

        while (place < text.Length && !char.IsWhiteSpace(text[place]))
            place++;
        part = start == 0 && place == text.Length ? text : text[start..place];
        return true;
    }

    private static int ClosingQuote(string text, int from)
    {
        for (int place = from; place < text.Length; place++)
        {
            if (text[place] == '"' && (place + 1 == text.Length || char.IsWhiteSpace(text[place + 1])))
                return place;
        }

        return -1;
    }

    /// <summary>Compiles one unquoted part; null if it contains no word.</summary>
    private Operator? Part(int field, string part)
    {
        if (!part.Contains('*', StringComparison.Ordinal))
            return Phrase(field, part, slop: 0, ordered: false);
        var operators = new List<Operator>();
        foreach (IndexQuery piece in Pieces(compiler, field, context.View.Schema.Fields[field].Name, part))
            operators.Add(piece switch
            {
                PrefixQuery prefix => compiler.Patterns.Prefix(field, prefix.Prefix),
                SuffixQuery suffix => compiler.Patterns.Suffix(field, suffix.Suffix),
                ContainsQuery infix => compiler.Patterns.Infix(field, infix.Text),
                WildcardQuery wildcard => compiler.Patterns.Wildcard(field, wildcard.Pattern),
                TextQuery words => Phrase(field, words.Text, slop: 0, ordered: false) ?? compiler.None(),
                _ => throw new InvalidOperationException($"A part of a text is no {piece.GetType().Name}."),
            });
        return operators.Count == 0 ? null : compiler.And(operators);
    }

    /// <summary>
    /// Returns the conditions that an unquoted part stands for, all of which an entry must meet: words, and a pattern where an
    /// asterisk is. None if it contains no word.
    /// </summary>
    public static IReadOnlyList<IndexQuery> Pieces(QueryCompiler compiler, int field, string fieldName, string part)
    {
        bool isPrefix = part.EndsWith('*');
        bool isSuffix = part.StartsWith('*');
        string text = part.Trim('*');
        if (text.Length == 0)
            return isPrefix ? [new PrefixQuery(fieldName, "")] : [];
        if (text.Contains('*', StringComparison.Ordinal) && IsOneWord(compiler, field, text))
            return [new WildcardQuery(fieldName, Escape(part))];

        byte[] utf8 = Encoding.UTF8.GetBytes(text);
        IReadOnlyList<TokenList.Token> words = compiler.Words(field, utf8);
        if (!isPrefix && !isSuffix)
            return words.Count == 0 ? [] : [new TextQuery(fieldName, text)];

        var pieces = new List<IndexQuery>();
        for (int i = 0; i < words.Count; i++)
        {
            bool isOpen = isPrefix && i == words.Count - 1;
            bool isBegun = isSuffix && i == 0;

            // A piece of a word is compared with terms unstemmed.
            string piece = Encoding.UTF8.GetString(utf8.AsSpan(words[i].Start, words[i].End - words[i].Start));
            pieces.Add((isOpen, isBegun) switch
            {
                (true, true) => new ContainsQuery(fieldName, piece),
                (true, false) => new PrefixQuery(fieldName, piece),
                (false, true) => new SuffixQuery(fieldName, piece),
                _ => new TextQuery(fieldName, piece),
            });
        }

        return pieces;
    }

    /// <summary>Whether each piece between asterisks is one word, so that the asterisks are inside a word.</summary>
    private static bool IsOneWord(QueryCompiler compiler, int field, string text) =>
        Array.TrueForAll(
            text.Split('*', StringSplitOptions.RemoveEmptyEntries),
            piece => compiler.Words(field, Encoding.UTF8.GetBytes(piece)) is [var word]
                && word.Start == 0 && word.End == Encoding.UTF8.GetByteCount(piece));

    /// <summary>Escapes everything but the asterisk, the only wildcard here.</summary>
    private static string Escape(string part) =>
        part.Replace("\\", "\\\\", StringComparison.Ordinal).Replace("?", "\\?", StringComparison.Ordinal);

    /// <summary>Compiles the words of a text as a phrase; null if there is none.</summary>
    private Operator? Phrase(int field, string text, int slop, bool ordered)
    {
        IReadOnlyList<TokenList.Token> words = compiler.Words(field, Encoding.UTF8.GetBytes(text));
        if (words.Count == 0)
            return null;
        if (words.Count == 1)
            return (Operator?)compiler.Word(field, words[0].Form, withPositions: false) ?? compiler.None();
        if (words.Count > MaxPhraseWords)
            throw new IndexQueryException($"A phrase has {words.Count:N0} words; {MaxPhraseWords:N0} is the most.");

        var terms = new List<TermOperator>();
        int[] termOf = new int[words.Count];
        int[] offsets = new int[words.Count];
        double idf = 0;
        LengthFactors? factors = isScored ? context.Factors(field) : null;
        for (int i = 0; i < words.Count; i++)
        {
            // A repeated word is the same term. Each is looked up once, as a lookup costs more than comparing with all
            // earlier words.
            int before = 0;
            while (!words[before].Form.AsSpan().SequenceEqual(words[i].Form))
                before++;
            int place = before < i ? termOf[before] : terms.Count;
            if (before == i)
            {
                if (compiler.Word(field, words[i].Form, withPositions: true) is not { } term)
                    return compiler.None();
                term.Announce();
                term.AnnounceLengths();
                terms.Add(term);
            }

            termOf[i] = place;
            offsets[i] = words[i].Position - words[0].Position;
            idf += factors is null
                ? 0
                : Bm25.Idf(factors.Statistics.EntriesWithTerms, context.EntriesWith(field, words[i].Form, terms[place].Estimate));
        }

        TermOperator[] byCost = [.. terms.OrderBy(static term => term.Estimate)];
        int[] byCostOf = Array.ConvertAll(termOf, place => Array.IndexOf(byCost, terms[place]));
        var matcher = new PhraseMatcher(context, byCostOf, offsets, slop, ordered);
        return new PhraseOperator(context, [.. terms], byCost, matcher, factors, idf, isExact: slop == 0);
    }
}
