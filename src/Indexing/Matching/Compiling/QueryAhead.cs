using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>
/// Has the operating system read ahead what a query needs first, all at once: the state of the index, the paths to the
/// query's words, and the roots of the trees read next. Otherwise a first query on a cold index waits for one page after
/// another. It is a guess from the query alone: what it misses is read on demand, and nothing depends on it.
/// </summary>
/// <param name="view">The index.</param>
/// <param name="schema">The fields, actual or expected.</param>
internal sealed class QueryAhead(IndexView view, IndexSchema schema)
{
    private readonly PathAnnouncement _paths = new();
    private FieldAnalyzers? _analyzers;

    /// <summary>Announces the pages a query is going to read. Does nothing after the first queries on a view.</summary>
    /// <exception cref="IndexSchemaException">A queried text field names an analyzer that does not exist.</exception>
    public static void Announce(IndexView view, SearchRequest request)
    {
        if (view.TakeExpected() is not { } expected)
            return;

        var ahead = new QueryAhead(view, expected);
        ahead._paths.AddRoot(view.Tree(TreeNames.Index));
        ahead.Add(request.Query, 0);
        foreach (SortKey key in request.Sort)
        {
            if (key.Kind is SortKind.Long or SortKind.Double && expected.IndexOf(key.Field) is >= 0 and var field)
                ahead._paths.Add(view.Tree(TreeNames.Numbers(field)), TermTree.CountKey);
        }

        ahead._paths.Run();
    }

    private void Add(IndexQuery query, int depth)
    {
        if (depth > QueryCompiler.MaxDepth)
            return;
        switch (query)
        {
            case AndQuery all:
                Add(all.Clauses, depth);
                break;
            case OrQuery either:
                Add(either.Clauses, depth);
                break;
            case BoostQuery boost:
                Add(boost.Clause, depth + 1);
                break;
            case FullTextQuery text:
                Add(text.Field, text.Text);
                break;
            case PhraseQuery phrase:
                Add(phrase.Field, phrase.Text);
                break;
            case TextQuery text:
                Add(text.Field, text.Text);
                break;
            case RangeQuery range:
                Add(range);
                break;
        }
    }

    private void Add(IReadOnlyList<IndexQuery> clauses, int depth)
    {
        foreach (IndexQuery clause in clauses)
            Add(clause, depth + 1);
    }

    /// <summary>Adds the words of a text, and if there are several, the roots of their lists and lengths.</summary>
    private void Add(string name, string text)
    {
        int field = schema.IndexOf(name);
        if (field < 0 || schema.Fields[field].Analysis != FieldAnalysis.FullText)
            return;

        string dictionary = TreeNames.Terms(field);
        _analyzers ??= view.AnalyzersOf(schema);
        IReadOnlyList<TokenList.Token> words = TokenList.Of(_analyzers[field].ForQueries, Encoding.UTF8.GetBytes(text));
        foreach (TokenList.Token word in words)
            _paths.Add(view.Tree(dictionary), [TermTree.BlockMark, .. word.Form, 0]);
        if (words.Count < 2)
            return;
        _paths.AddRoot(view.Tree(TreeNames.Postings(dictionary)));
        _paths.AddRoot(view.Tree(TreeNames.Impacts(dictionary)));
        _paths.AddRoot(view.Tree(TreeNames.Norms(field)));
    }

    /// <summary>
    /// Adds the bounds of a range of numbers, and the root of the list of all entries, which a range is compared within.
    /// </summary>
    private void Add(RangeQuery range)
    {
        int field = schema.IndexOf(range.Field);
        if (field < 0 || schema.Fields[field].Analysis == FieldAnalysis.FullText)
            return;

        _paths.AddRoot(view.Tree(TreeNames.Lists));
        Span<byte> key = stackalloc byte[1 + NumberKey.Bytes];
        key[0] = TermTree.BlockMark;
        foreach (FieldValue? bound in (ReadOnlySpan<FieldValue?>)[range.Low, range.High])
        {
            if (bound is { Kind: FieldValueKind.Long or FieldValueKind.Double } number
                && QueryValue.TryWriteNumber(number, key[1..]))
                _paths.Add(view.Tree(TreeNames.Numbers(field)), key);
        }
    }
}
