using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Automata;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Queries;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>
/// Compiles patterns over terms: prefixes, suffixes, infixes, wildcards, regular expressions and fuzzy matches. Each match
/// scores the boost once, whatever terms it consists of.
/// </summary>
/// <param name="compiler">Looks up terms and combines clauses.</param>
/// <param name="context">The running query.</param>
/// <param name="isScored">Whether scores are wanted.</param>
internal sealed class PatternCompiler(QueryCompiler compiler, QueryContext context, bool isScored)
{
    /// <summary>Compiles a prefix, which is a range of texts unless the index may keep only the ends of matching ones.</summary>
    /// <param name="field">The field.</param>
    /// <param name="text">The prefix.</param>
    /// <param name="needsAll">Whether all matches will be read.</param>
    public Operator Prefix(int field, string text, bool needsAll = false)
    {
        string what = $"startsWith '{Shorten(text)}'";
        byte[] prefix = Form(field, text);
        TermScan scan = Scan(field, what);
        if (prefix.Length > TermForm.HeadBytes)
            return scan.Prefix(prefix);
        var keys = new KeyRange(TreeNames.Terms(field), prefix, true, TermForm.AfterPrefix(prefix), false);
        if (new RangeCompiler(context).TryCompareTexts(field, keys, needsAll, () => scan.Prefix(prefix)) is not { } compared)
            return scan.Prefix(prefix);
        compared.Name = ("terms", context.View.Schema.Fields[field].Name, what);
        return compared;
    }

    public Operator Suffix(int field, string text) => Scan(field, $"endsWith '{Shorten(text)}'").Suffix(Form(field, text));

    public Operator Infix(int field, string text) => Scan(field, $"wildcard '*{Shorten(text)}*'").Infix(Form(field, text));

    public Operator Wildcard(WildcardQuery query) => Wildcard(context.View.Field(query.Field), query.Pattern);

    /// <summary>Compiles a wildcard pattern; simple ones need no automaton.</summary>
    public Operator Wildcard(int field, string pattern)
    {
        if (pattern.Length > TextPatterns.MaxWildcardLength)
            throw new IndexQueryException(
                $"A pattern with wildcards has at most {TextPatterns.MaxWildcardLength:N0} characters; this one has "
                    + $"{pattern.Length:N0}.");

        List<WildcardPiece> pieces = TextPatterns.Cut(pattern);
        string what = $"wildcard '{Shorten(pattern)}'";
        switch (pieces)
        {
            case []:
                return Exactly(field, "");
            case [{ Kind: WildcardKind.Text } only]:
                return Exactly(field, only.Text);
            case [{ Kind: WildcardKind.Text } start, { Kind: WildcardKind.Any }]:
                return Scan(field, what).Prefix(Form(field, start.Text));
            case [{ Kind: WildcardKind.Any }, { Kind: WildcardKind.Text } end]:
                return Scan(field, what).Suffix(Form(field, end.Text));
            case [{ Kind: WildcardKind.Any }, { Kind: WildcardKind.Text } middle, { Kind: WildcardKind.Any }]:
                return Scan(field, what).Infix(Form(field, middle.Text));
            default:
                return Scan(field, what).Matching(Automaton(field, pieces));
        }
    }

    public Operator Regex(RegexQuery query)
    {
        int field = context.View.Field(query.Field);
        return Scan(field, $"regular expression '{Shorten(query.Pattern)}'").Matching(Automaton(field, query));
    }

    public Operator Fuzzy(FuzzyQuery query)
    {
        int field = context.View.Field(query.Field);
        return compiler.And([.. FuzzyForms(field, query).Select(form => Fuzzy(field, query, form))], whenEmpty: compiler.None());
    }

    /// <summary>
    /// Returns the field of a pattern that reads the whole dictionary, so that several can share a pass; null for other
    /// queries.
    /// </summary>
    public static string? FieldOfPattern(IndexQuery query) => query switch
    {
        SuffixQuery suffix => suffix.Field,
        RegexQuery regex => regex.Field,
        _ => null,
    };

    /// <summary>
    /// Matches any of several patterns: the endings are found in one pass over the terms, the regular expressions in another.
    /// </summary>
    public Operator Any(PatternsQuery query)
    {
        int field = context.View.Field(query.Field);
        var found = new List<Operator>();
        var endings = new List<byte[]>();
        foreach (SuffixQuery suffix in query.Patterns.OfType<SuffixQuery>())
        {
            byte[] ending = Form(field, suffix.Suffix);
            if (ending.Length is > 0 and <= TermForm.TailBytes)
                endings.Add(ending);
            else
                found.Add(compiler.Compile(suffix));
        }

        if (endings.Count > 0)
            found.Add(Scan(field, $"{endings.Count:N0} endings").Endings(new TermEndings(endings)));
        AddTogether(field, [.. query.Patterns.OfType<RegexQuery>()], found);
        return compiler.Or(found);
    }

    /// <summary>Halves a group of regular expressions until each part's automaton is small enough.</summary>
    private void AddTogether(int field, List<RegexQuery> patterns, List<Operator> found)
    {
        if (patterns.Count < 2)
        {
            found.AddRange(patterns.Select(compiler.Compile));
            return;
        }

        try
        {
            found.Add(Scan(field, $"{patterns.Count:N0} regular expressions").Matching(Together(field, patterns)));
        }
        catch (IndexQueryException error) when (error.IsOfPattern)
        {
            AddTogether(field, patterns[..(patterns.Count / 2)], found);
            AddTogether(field, patterns[(patterns.Count / 2)..], found);
        }
    }

    private TermAutomaton Together(int field, List<RegexQuery> patterns)
    {
        const int WorkOfPattern = 40_000; // a failed attempt costs a hundredth of what a single pattern may
        var nfa = new Nfa();
        foreach (RegexQuery regex in patterns)
        {
            nfa.Start = nfa.AddSplit(
                nfa.Start,
                RegexPattern.Add(nfa, regex.Pattern, text => Encoding.UTF8.GetString(Form(field, text)), regex.IsWhole));
        }

        return new TermAutomaton(nfa, (long)WorkOfPattern * patterns.Count);
    }

    /// <summary>Matches the terms near one normalized text.</summary>
    private Operator Fuzzy(int field, FuzzyQuery query, string form)
    {
        int edits = Edits(query, form);
        return edits == 0
            ? Constant(compiler.Word(field, Encoding.UTF8.GetBytes(form), withPositions: false))
            : Scan(field, $"fuzzy '{Shorten(form)}'").Matching(TextPatterns.Near(form, edits, query.Prefix));
    }

    /// <summary>The automaton of a wildcard pattern over the terms of a field.</summary>
    internal TermAutomaton Automaton(int field, IEnumerable<WildcardPiece> pieces) =>
        TextPatterns.Wildcard(
            [.. pieces.Select(piece => piece with { Text = Encoding.UTF8.GetString(Form(field, piece.Text)) })]);

    /// <summary>The automaton of a regular expression over the terms of a field.</summary>
    internal TermAutomaton Automaton(int field, RegexQuery query) =>
        RegexPattern.Compile(query.Pattern, text => Encoding.UTF8.GetString(Form(field, text)), query.IsWhole);

    /// <summary>The normalized words that terms have to be near.</summary>
    internal IEnumerable<string> FuzzyForms(int field, FuzzyQuery query)
    {
        if (query.Prefix < 0)
            throw new IndexQueryException(
                $"The prefix of a fuzzy query is a number of characters, at least 0; {query.Prefix} is not.");
        foreach (TokenList.Token word in compiler.Words(field, Encoding.UTF8.GetBytes(query.Text)))
        {
            string form = Encoding.UTF8.GetString(word.Form);
            if (TermForm.IsCut(word.Form) || form.Length > TextPatterns.MaxFuzzyLength)
                throw new IndexQueryException(
                    $"A fuzzy query takes words of at most {TextPatterns.MaxFuzzyLength} characters; this one has "
                        + $"{query.Text.Length:N0}.");
            yield return form;
        }
    }

    /// <summary>The number of edits that a similarity allows for a text.</summary>
    internal static int Edits(FuzzyQuery query, string form)
    {
        float similarity = query.Similarity;
        if (similarity is 1 or 2)
            return (int)similarity;
        if (!(similarity is >= 0 and < 1))
            throw new IndexQueryException(
                $"The similarity of a fuzzy query is a number from 0 to below 1, or 1 or 2 edits; {similarity} is not.");

        // Computed in decimal-rounded doubles, so that 0.8 of five characters allows one edit, not 0.99999.
        int characters = form.EnumerateRunes().Count();
        return (int)Math.Min(TextPatterns.MaxEdits, Math.Floor(((1 - (double)(decimal)similarity) * characters) + 1e-9));
    }

    private Operator Exactly(int field, string text) => Constant(compiler.Word(field, Form(field, text), withPositions: false));

    private Operator Constant(TermOperator? term) =>
        term is null ? compiler.None() : isScored ? new ConstantOperator(context, term) : term;

    private byte[] Form(int field, string text) => compiler.Folded(field, text);

    private TermScan Scan(int field, string what) => new(context, field, what);

    private static string Shorten(string text) => text.Length <= 60 ? text : text[..60] + "…";
}
