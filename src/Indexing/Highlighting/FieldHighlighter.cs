using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Automata;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Queries;

namespace Treepie.Indexing.Highlighting;

/// <summary>
/// Highlights in the texts of one field what a query searches for: the field's analyzer splits the texts into words, and each is
/// compared with the query's words and patterns. Conditions below a NOT are not highlighted. Not thread-safe; must be disposed
/// before the searcher that created it.
/// </summary>
public sealed class FieldHighlighter : IDisposable
{
    private readonly QueryContext _context;
    private readonly QueryCompiler _compiler;
    private readonly int _field;
    private readonly Dictionary<string, int> _forms = new(StringComparer.Ordinal);
    private readonly List<(TermAutomaton Pattern, int Number)> _patterns = [];
    private int _count;

    internal FieldHighlighter(QueryContext context, IndexQuery query, string fieldName)
    {
        _context = context;
        _compiler = new QueryCompiler(context, isScored: false);
        _field = context.View.Field(fieldName);
        Collect(query, fieldName, 0);
    }

    /// <summary>
    /// Returns the fragments of the texts with the most matches, best first, with matched words between tags; empty if there are
    /// none.
    /// </summary>
    public IReadOnlyList<string> Fragments(IEnumerable<string> texts, HighlightOptions options)
    {
        ArgumentNullException.ThrowIfNull(texts);
        ArgumentNullException.ThrowIfNull(options);
        if (_count == 0)
            return [];

        var found = new List<Fragment>();
        foreach (string text in texts)
        {
            _context.CancellationToken.ThrowIfCancellationRequested();
            found.AddRange(Fragment.Cut(text, Marks(text), options.FragmentLength));
        }

        return [
            .. found.OrderByDescending(fragment => fragment.Worth)
                .Take(options.FragmentCount)
                .Select(fragment => fragment.Marked(options))];
    }

    /// <inheritdoc/>
    public void Dispose() => _context.Dispose();

    /// <summary>The places of found words in a text, in characters, ascending and disjoint.</summary>
    private List<Mark> Marks(string text)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(text);
        var marks = new List<Mark>();
        int bytes = 0;
        int characters = 0;
        foreach (TokenList.Token token in Tokens(utf8).OrderBy(token => token.Start).ThenByDescending(token => token.End))
        {
            if (Number(token.Form) is not { } number || token.Start < bytes || token.End > utf8.Length)
                continue;
            int start = characters + Encoding.UTF8.GetCharCount(utf8, bytes, token.Start - bytes);
            int end = start + Encoding.UTF8.GetCharCount(utf8, token.Start, token.End - token.Start);
            marks.Add(new Mark(start, end, number));
            (bytes, characters) = (token.End, end);
        }

        return marks;
    }

    /// <summary>Analyzes as the field was indexed; in a field of whole values the text is one term.</summary>
    private IReadOnlyList<TokenList.Token> Tokens(byte[] utf8) =>
        _compiler.IsFullText(_field) ? TokenList.Of(_context.View.Analyzers[_field], utf8) : _compiler.Words(_field, utf8);

    private int? Number(byte[] form)
    {
        if (_forms.TryGetValue(Convert.ToHexString(form), out int number))
            return number;
        foreach ((TermAutomaton pattern, int own) in _patterns)
        {
            if (pattern.Matches(form))
                return own;
        }

        return null;
    }

    /// <summary>Collects the words and patterns of conditions on the field.</summary>
    private void Collect(IndexQuery query, string name, int depth)
    {
        if (depth > QueryCompiler.MaxDepth)
            return;
        switch (query)
        {
            case AndQuery or OrQuery:
                foreach (IndexQuery clause in QueryCompiler.Flatten(query))
                    Collect(clause, name, depth + 1);
                break;
            case IntersectQuery together:
                foreach (IndexQuery clause in together.Clauses)
                    Collect(clause, name, depth + 1);
                break;
            case BoostQuery boost:
                Collect(boost.Clause, name, depth + 1);
                break;
            case FullTextQuery text when text.Field == name:
                foreach ((string part, bool isQuoted) in TextCompiler.Parts(text.Text))
                {
                    if (isQuoted || !part.Contains('*', StringComparison.Ordinal))
                        AddWords(part);
                    else
                        foreach (IndexQuery piece in TextCompiler.Pieces(_compiler, _field, name, part))
                            Collect(piece, name, depth + 1);
                }

                break;
            case FusionQuery fusion:
                foreach (FusionClause clause in fusion.Clauses)
                    Collect(clause.Query, name, depth + 1);
                break;
            case MoreLikeThisQuery like:
                foreach (byte[] form in new MoreLikeThisCompiler(_compiler, _context, isScored: false).FormsOf(like, _field))
                    AddForm(form);
                break;
            case TextQuery text when text.Field == name:
                AddWords(text.Text);
                break;
            case PhraseQuery phrase when phrase.Field == name:
                AddWords(phrase.Text);
                break;
            case TermQuery { Value.Text: { } value } term when term.Field == name:
                AddWords(value);
                break;
            case InQuery list when list.Field == name:
                AddValues(list.Values);
                break;
            case AllInQuery list when list.Field == name:
                AddValues(list.Values);
                break;
            case PrefixQuery prefix when prefix.Field == name:
                Add(
                    _compiler.Patterns.Automaton(
                        _field, [new WildcardPiece(WildcardKind.Text, prefix.Prefix), new WildcardPiece(WildcardKind.Any, "")]));
                break;
            case SuffixQuery suffix when suffix.Field == name:
                Add(
                    _compiler.Patterns.Automaton(
                        _field, [new WildcardPiece(WildcardKind.Any, ""), new WildcardPiece(WildcardKind.Text, suffix.Suffix)]));
                break;
            case ContainsQuery contains when contains.Field == name:
                Add(_compiler.Patterns.Automaton(
                    _field,
                    [new WildcardPiece(WildcardKind.Any, ""), new WildcardPiece(
                        WildcardKind.Text, contains.Text), new WildcardPiece(WildcardKind.Any, "")]));
                break;
            case WildcardQuery wildcard when wildcard.Field == name:
                Add(_compiler.Patterns.Automaton(_field, TextPatterns.Cut(wildcard.Pattern)));
                break;
            case RegexQuery regex when regex.Field == name:
                Add(_compiler.Patterns.Automaton(_field, regex));
                break;
            case FuzzyQuery fuzzy when fuzzy.Field == name:
                foreach (string form in _compiler.Patterns.FuzzyForms(_field, fuzzy))
                    Add(TextPatterns.Near(form, PatternCompiler.Edits(fuzzy, form), fuzzy.Prefix));
                break;
        }
    }

    private void AddValues(IReadOnlyList<FieldValue> values)
    {
        foreach (FieldValue value in values)
        {
            if (value.Text is { } text)
                AddWords(text);
        }
    }

    private void AddWords(string text)
    {
        foreach (TokenList.Token word in _compiler.Words(_field, Encoding.UTF8.GetBytes(text)))
            AddForm(word.Form);
    }

    private void AddForm(byte[] form) => _count += _forms.TryAdd(Convert.ToHexString(form), _count) ? 1 : 0;

    private void Add(TermAutomaton pattern) => _patterns.Add((pattern, _count++));
}
