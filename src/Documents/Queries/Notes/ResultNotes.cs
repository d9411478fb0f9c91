using System.Buffers;
using System.Text;
using Treepie.Indexes.Fields;
using Treepie.Indexing;
using Treepie.Indexing.Highlighting;
using Treepie.Json;
using Treepie.Queries.Binding;
using Treepie.Store;

namespace Treepie.Queries.Notes;

/// <summary>
/// Annotations of results: highlighted fragments and score explanations. Collected while the results are read, so only for those
/// of the page. Must be disposed before the index's view.
/// </summary>
internal sealed class ResultNotes : IDisposable
{
    private readonly List<(
        HighlightRequest Request, FieldHighlighter Highlighter, Dictionary<string, List<string>> Found)> _highlights = [];
    private readonly ScoreExplainer? _explainer;
    private readonly Dictionary<string, List<string>> _explanations = new(StringComparer.Ordinal);
    private readonly FieldPath? _explanationKey;

    private ResultNotes(IndexSearcher searcher, IndexTail? tail, BoundQuery query, CancellationToken cancellationToken)
    {
        _explanationKey = query.ExplanationKey;
        try
        {
            foreach (HighlightRequest request in query.Highlights)
                _highlights.Add(
                    (request, searcher.OpenHighlighter(
                        query.Condition, request.SchemaName,
                        cancellationToken), new Dictionary<string, List<string>>(StringComparer.Ordinal)));
            if (query.WantsExplanations)
                _explainer = tail is null
                    ? searcher.OpenExplainer(query.Condition, cancellationToken)
                    : searcher.OpenExplainer(query.Condition, tail, cancellationToken);
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    /// <summary>Prepares the annotations that the query requests; null if it requests none.</summary>
    /// <param name="searcher">The view that is searched.</param>
    /// <param name="tail">The changes that the view lacks, if they are searched too.</param>
    /// <param name="query">The query.</param>
    /// <param name="cancellationToken">Cancels the work.</param>
    public static ResultNotes? Open(
        IndexSearcher searcher, IndexTail? tail, BoundQuery query, CancellationToken cancellationToken) =>
        query.Highlights.Count > 0 || query.WantsExplanations ? new ResultNotes(searcher, tail, query, cancellationToken) : null;

    /// <summary>Adds the annotations of a result.</summary>
    public void Add(long entryId, Document document)
    {
        string id = document.IdText();
        foreach ((HighlightRequest request, FieldHighlighter highlighter, Dictionary<string, List<string>> found) in _highlights)
        {
            IReadOnlyList<string> fragments = highlighter.Fragments(FieldTexts.Of(document.Body, request.Path), request.Options);
            Of(found, Key(document, request.KeyPath, id)).AddRange(fragments);
        }

        if (_explainer is not null)
            Of(_explanations, Key(document, _explanationKey, id)).Add(_explainer.Explain(entryId).ToString());
    }

    /// <summary>Writes <c>{"field":{"id":["fragment",…],…},…}</c>.</summary>
    public void WriteHighlightings(IBufferWriter<byte> output)
    {
        output.Write("{"u8);
        for (int i = 0; i < _highlights.Count; i++)
        {
            output.Write(i == 0 ? ""u8 : ","u8);
            WriteText(output, _highlights[i].Request.Name);
            output.Write(":{"u8);
            WriteLists(output, _highlights[i].Found);
            output.Write("}"u8);
        }

        output.Write("}"u8);
    }

    /// <summary>Writes <c>{"id":["text"],…}</c>.</summary>
    public void WriteExplanations(IBufferWriter<byte> output)
    {
        output.Write("{"u8);
        WriteLists(output, _explanations);
        output.Write("}"u8);
    }

    public void Dispose()
    {
        foreach ((_, FieldHighlighter highlighter, _) in _highlights)
            highlighter.Dispose();
        _explainer?.Dispose();
    }

    /// <summary>
    /// Returns the first text at a path, or the value there as JSON if it is no text; the id if there is none.
    /// </summary>
    private static string Key(Document document, FieldPath? path, string id)
    {
        if (path is null)
            return id;
        if (FieldTexts.Of(document.Body, path) is [{ } text, ..])
            return text;
        var json = new ArrayBufferWriter<byte>();
        return JsonPathReader.TryWrite(document.Body, path, json) && !json.WrittenSpan.SequenceEqual("null"u8)
            ? Encoding.UTF8.GetString(json.WrittenSpan)
            : id;
    }

    private static List<string> Of(Dictionary<string, List<string>> found, string key)
    {
        if (!found.TryGetValue(key, out List<string>? texts))
            found.Add(key, texts = []);
        return texts;
    }

    private static void WriteLists(IBufferWriter<byte> output, Dictionary<string, List<string>> lists)
    {
        bool isFirst = true;
        foreach ((string key, List<string> texts) in lists)
        {
            output.Write(isFirst ? ""u8 : ","u8);
            isFirst = false;
            WriteList(output, key, texts);
        }
    }

    private static void WriteList(IBufferWriter<byte> output, string key, List<string> texts)
    {
        WriteText(output, key);
        output.Write(":["u8);
        for (int i = 0; i < texts.Count; i++)
        {
            output.Write(i == 0 ? ""u8 : ","u8);
            WriteText(output, texts[i]);
        }

        output.Write("]"u8);
    }

    private static void WriteText(IBufferWriter<byte> output, string text) =>
        JsonStrings.Write(output, Encoding.UTF8.GetBytes(text));
}
