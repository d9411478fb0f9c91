using System.Buffers;
using System.Buffers.Text;
using System.Diagnostics.CodeAnalysis;
using System.Text.Encodings.Web;
using System.Text.Json;
using Treepie.Computations;
using Treepie.Queries.Binding;
using Treepie.Queries.Filters;
using Treepie.Queries.Plans;
using Treepie.Queries.Projecting;
using Treepie.Queries.Scripts;
using Treepie.Queries.Sources;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>
/// The results of a query over one snapshot of the documents and the index, read one at a time with <see cref="MoveNext"/> and
/// <see cref="WriteCurrent"/>. Results are not buffered. Must be disposed. Not thread-safe.
/// </summary>
public sealed class QueryResults : IDisposable
{
    private readonly QueryContext _context;
    private readonly FoundResults _found;
    private readonly ResultSource _source;
    private readonly Projection? _projection;
    private readonly ArrayBufferWriter<byte>? _projected;
    private readonly DistinctFilter? _distinct;
    private readonly DocumentsOnce? _once;
    private readonly IncludedDocuments? _includes;
    private readonly BesideCollector? _beside;
    private readonly ScriptRows? _script;
    private readonly RowValues? _values;
    private List<(ScriptIncludeKind Kind, string Name)>? _included;
    private readonly ExaminationTime _time;
    private readonly ResultBody? _filtered;
    private ArrayBufferWriter<byte>? _document; // scratch buffer of the filter
    private readonly ResultSteps? _steps; // of a query with a plan
    private byte[]? _position;
    private long? _etag;
    private long _toSkip;
    private long _examined;
    private long _passed;
    private bool _isAllSeen;
    private long _remaining;
    private long _given;
    private int _tellingBytes;
    private bool _isCurrentProjected;
    private bool _isDisposed;
    private int _row = -1;

    internal QueryResults(QueryContext context, FoundResults found)
    {
        _context = context;
        _found = found;
        _source = found.Source;
        SkippedResults = found.LeftOut;
        BoundQuery query = context.Query;
        _steps = found.Scan is null && found.Plan is null
            ? null
            : new ResultSteps(query, found.Plan, found.Scan, context.TimeProvider);
        _remaining = query.Take;
        _time = new ExaminationTime(context.TimeProvider, context.MaxScriptTime, context.CancellationToken);
        _filtered = query.Filters ? new ResultBody(query.StoredFields, ProjectionBehavior.Default) : null;
        _values = query.Projection is not { } projection ? null : new RowValues(
            found.Snapshot, query.Loads,
            projection.HasFunctions ? new ResultBody(query.StoredFields, context.Request.ProjectionBehavior) : null)
        {
            Time = _time
        };
        if (query.Script is { } script)
        {
            _script = new ScriptRows(
                script, _filtered ?? new ResultBody(query.StoredFields, ProjectionBehavior.Default),
                new ResultBody(query.StoredFields, context.Request.ProjectionBehavior),
                context.Request.Parameters, new RowValues(found.Snapshot, query.Loads), Include, context.TimeProvider,
                context.MaxScriptTime, context.CancellationToken);
        }

        _once = found.HasSeveralOfDocument ? new DocumentsOnce(query.Sort.Count == 0, context.MaxDistinctResults) : null;
        _toSkip = query.Filters ? query.Skip : found.LeftToSkip;

        _projection = query.Projection;
        _projected = query.Projection is null ? null : new ArrayBufferWriter<byte>();
        _distinct = query.Distinct ? new DistinctFilter(context.MaxDistinctResults, TooManyRows) : null;
        _includes = query.Script is null && query.IncludePaths.Count + query.IncludeIds.Count == 0
            ? null
            : new IncludedDocuments(query.IncludePaths, query.IncludeIds);
        _beside = query.Script is null && query.BesideIncludes.Count == 0 ? null : new BesideCollector(query.BesideIncludes);
    }

    /// <summary>The number of matches before paging; a lower bound if <see cref="IsTotalExact"/> is false.</summary>
    public long TotalResults => _found.ComputedRows?.Count ?? (Filters ? _passed : _source.TotalCount);

    /// <summary>
    /// Whether <see cref="TotalResults"/> is the exact number of matches; always true if the request counts results.
    /// </summary>
    public bool IsTotalExact => _found.ComputedRows is not null || (Filters ? _isAllSeen : _source.IsTotalExact);

    /// <summary>
    /// The number of results left out so far: duplicate rows of <c>distinct</c>, or further index entries of documents that were
    /// returned already. For the next page, skip these too.
    /// </summary>
    public long SkippedResults { get; private set; }

    /// <summary>Whether several entries of the index may belong to one document, which is returned once.</summary>
    internal bool HasSeveralOfDocument => _once is not null;

    /// <summary>The index that answered the query: its name, <c>collection/Users</c> or <c>AllDocs</c>.</summary>
    public string IndexName => _found.IndexName;

    /// <summary>
    /// Whether the index had not processed every document of the snapshot or, if the query waited, every document written before
    /// it.
    /// </summary>
    public bool IsStale => _found.Answer is { IsStale: true };

    /// <summary>The etag of the result, which is the same for identical results. Computed on first access.</summary>
    /// <exception cref="ObjectDisposedException">The etag was not accessed before the results were disposed.</exception>
    public long ResultEtag => _etag ??= ResultEtags.Of(_context, _found.Snapshot, _found.Answer);

    /// <summary>
    /// The collection of all documents that the result depends on; null if it may depend on others, or on other data, as scripts
    /// and setups of facets do.
    /// </summary>
    internal string? OnlyCollection => _context.Query is { Script: null, IsComputed: false } query
        ? ResultEtags.CollectionOf(query, _found.Answer?.Index)
        : null;

    /// <summary>
    /// The time of the index's last batch (UTC); <see cref="DateTime.MinValue"/> if no index was used, or if it has run no batch
    /// since it was opened.
    /// </summary>
    public DateTime IndexTimestamp => _found.Answer?.LastBatch ?? DateTime.MinValue;

    /// <summary>
    /// The position of the next page, for <see cref="QueryRequest.Continuation"/>; null if it was not requested, or if this page
    /// was not full and therefore is the last. Where documents themselves answer, known when the last result has been read.
    /// </summary>
    public string? Continuation => (_found.Position ?? _position) is { } position ? Base64Url.EncodeToString(position) : null;

    /// <summary>
    /// Warnings: about probable mistakes in the query (a collection or field that no document has, once the index has processed
    /// all documents; of fields that no index has, as far as queries have looked at documents), about an index that is not
    /// complete, and about conditions for which documents are examined one by one.
    /// </summary>
    [field: MaybeNull]
    public IReadOnlyList<string> Warnings => field ??= _context.Query is { Warning: null, ExaminedWarning: null }
        ? _found.Warnings
        : [.. _found.Warnings, .. ((string?[])[_context.Query.Warning, _context.Query.ExaminedWarning]).OfType<string>()];

    /// <summary>
    /// The work done to find the results; deterministic for a query on the same index. Zero if no index was used, unless the plan
    /// was requested: then the work done so far.
    /// </summary>
    public Indexing.QueryCounters Counters => _found.Scan?.Counters ?? _found.Counters;

    /// <summary>The query plan; null unless requested.</summary>
    public Indexing.Plans.PlanNode? Plan => _steps?.Node(
        _examined, _passed, _distinct is null ? _given : _given + SkippedResults - _found.LeftOut, _given, _script);

    /// <summary>
    /// Returns the query plan on one line, with the number of entries that each step produced; null unless
    /// <see cref="QueryRequest.WithPlan"/> or the query requests it. It contains no values of documents or queries.
    /// </summary>
    public string? DescribePlan() => Plan is { } plan ? PlanText.Of(plan) : null;

    /// <summary>Whether the query requests timings.</summary>
    public bool HasTimings => _context.Query.WantsTimings;

    /// <summary>The results of each <c>suggest()</c> of the query; empty if it has none.</summary>
    public IReadOnlyList<SuggestionResult> Suggestions => _found.Suggestions;

    /// <summary>Whether the results are computed facets or suggestions instead of documents. They can only be written.</summary>
    public bool IsComputed => _found.ComputedRows is not null;

    /// <summary>The time spent so far.</summary>
    public TimeSpan Duration => _context.TimeProvider.GetElapsedTime(_context.Started);

    /// <summary>The paths of the <c>include</c> clause.</summary>
    [field: MaybeNull]
    public IReadOnlyList<string> IncludedPaths =>
        field ??= [.. _context.Query.IncludePaths.Select(path => path.Text), .. _context.Query.IncludeIds];

    /// <summary>Advances to the next result; returns false after the last one. Invalidates the previous result.</summary>
    /// <exception cref="OperationCanceledException">The query was cancelled.</exception>
    public bool MoveNext()
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        if (_found.ComputedRows is { } rows)
            return ++_row < rows.Count;
        while (_remaining > 0 || _script is { Waiting: > 0 })
        {
            _context.CancellationToken.ThrowIfCancellationRequested();
            _isCurrentProjected = false;
            if (_script is not { Waiting: > 0 })
                ReleasePages();
            if (!MoveSource())
                break;

            if (_distinct is not null && !IsNewRow(_distinct))
            {
                SkippedResults++;
                continue;
            }

            if (_once is not null && !IsWantedOnce(_once))
                continue;

            if (!SelectsByScript)
                TakeDocument();
            if (_context.Query.Script is { Computes: true } && Projects)
                Projected(); // its script may include documents
            TakeIncluded();
            _given++;
            return true;
        }

        _remaining = 0;
        CompleteTotal();
        return false;
    }

    /// <summary>Whether the current row is new. A row of one value is not written if the value is known.</summary>
    private bool IsNewRow(DistinctFilter distinct)
    {
        if (_script is not null || _values is null || _projection?.OnlyPath is not { } path)
            return distinct.AddRow(Projected()[.._tellingBytes]);
        _values.Begin(_source);
        return distinct.AddValue(_values.Value(path));
    }

    private string TooManyRows =>
        $"'select distinct' found more than {_context.MaxDistinctResults:N0} different rows (MaxDistinctResults). Narrow the "
            + $"condition, or count the values with facet().";

    /// <summary>
    /// Whether the current result is after those to skip, and of a document that is neither among these nor was returned before.
    /// </summary>
    private bool IsWantedOnce(DocumentsOnce once)
    {
        bool isNew = once.IsNew(_source);
        if (_toSkip > 0)
        {
            _toSkip--;
            return false;
        }

        if (!isNew)
            SkippedResults++;
        return isNew;
    }

    private bool Filters => _context.Query.Filters;

    /// <summary>Notes what the scripts of the current document include, which counts if a row of it is given.</summary>
    private void Include(ScriptIncludeKind kind, string name)
    {
        _included ??= [];
        if (_included.Count == IncludedDocuments.MaxIncludes)
            throw new InvalidQueryException(
                $"A script includes more than {IncludedDocuments.MaxIncludes:N0} names for one document. Include fewer.");
        _included.Add((kind, name));
    }

    /// <summary>Adds what the scripts of the current document include. A query with a script has both collectors.</summary>
    private void TakeIncluded()
    {
        if (_included is null)
            return;
        foreach ((ScriptIncludeKind kind, string name) in _included)
        {
            if (kind == ScriptIncludeKind.Document)
                _includes?.Add(name);
            else if (kind == ScriptIncludeKind.CompareExchange)
                _beside?.Included.AddCompareExchange(name);
            else
                _beside?.Included.AddRevision(name);
        }

        _included.Clear();
    }

    private void TakeDocument()
    {
        _includes?.Collect(_source.Current);
        _beside?.Collect(_source.Current);
        _found.Notes?.Add(_source.EntryId, _source.Current);
        if (--_remaining == 0)
            _position = _source.Position();
    }

    private void ReleasePages()
    {
        _found.Snapshot.ReleasePages();
        _source.ReleasePages();
    }

    /// <summary>Sets the number of documents that match a filter, known when all have been evaluated.</summary>
    private void CompleteTotal()
    {
        while (Filters && _context.Request.CountsResults && MoveToWanted())
            ReleasePages();
    }

    /// <summary>
    /// Advances to the next document that matches the filter; returns false if there is none, or if the limit of evaluated
    /// documents is reached.
    /// </summary>
    private bool MoveToWanted()
    {
        while (_examined < _context.Query.FilterLimit && _source.MoveNext())
        {
            _context.CancellationToken.ThrowIfCancellationRequested();
            _included?.Clear(); // of a document without a row
            _examined++;
            if (Wants())
            {
                _passed++;
                return true;
            }

            ReleasePages();
        }

        _isAllSeen = true;
        return false;
    }

    private bool Wants()
    {
        long begun = _steps?.BeginFilter() ?? 0;
        // not null: a query with a filter
        bool wants = _context.Query.Filter?.Passes(
                _source, _filtered!, _document ??= new ArrayBufferWriter<byte>(), _time) != false
            && _script?.Wants(_source) != false;
        _steps?.EndFilter(begun);
        return wants;
    }

    /// <summary>Advances to the next row: of a document whose script returns several, or of the next matching document.</summary>
    private bool MoveSource()
    {
        if (_script is null && !Filters)
            return _source.MoveNext();
        while (true)
        {
            if (_script is not null && _script.MoveNext())
                return true;
            if (_remaining == 0 || !MoveToWanted())
                return false;
            if (_toSkip > 0 && _once is null)
            {
                _toSkip--;
                continue;
            }

            if (!SelectsByScript)
                return true;
            TakeDocument(); // the page limits documents, not rows: a script may return any number of rows
            _script!.Begin(_source); // not null: SelectsByScript
        }
    }

    /// <summary>Whether the current result is a projection instead of a whole document.</summary>
    public bool IsProjection =>
        !_source.HasDocuments
            || Projects
            || SelectsByScript
            || _context.Request.IndexEntries;

    private bool Projects => _projection is not null && !_context.Request.MetadataOnly;

    private bool SelectsByScript =>
        _context.Query.Script is { Selects: true } && _context.Request is { MetadataOnly: false, IndexEntries: false };

    /// <summary>The document of the current result; valid until the next call of <see cref="MoveNext"/>.</summary>
    public Document Current => _source.Current;

    /// <summary>Writes the current result as a JSON object with <c>@metadata</c>.</summary>
    public void WriteCurrent(IBufferWriter<byte> output)
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        if (_found.ComputedRows is { } rows)
        {
            output.Write(rows[_row]);
            return;
        }

        Span<byte> scratch = stackalloc byte[256];
        ReadOnlySpan<byte> extra = WriteExtraMetadata(scratch);
        if (_context.Request.IndexEntries)
            Projection.WriteObject(_source.Id, Entry(), extra, output);
        else if (IsProjection)
            Projection.WriteObject(
                _source.Id, _projection is null && !SelectsByScript ? _source.Current.Body[1..^1] : Projected(), extra, output);
        else
            _source.Current.WriteTo(output, _context.Request.MetadataOnly, extra);
    }

    /// <summary>
    /// Writes the documents included by the results read, as <c>{"id":document,…}</c>. Call it once, after the last result.
    /// <see cref="WriteNextInclude"/> writes them one at a time instead.
    /// </summary>
    public void WriteIncludes(IBufferWriter<byte> output)
    {
        output.Write("{"u8);
        while (WriteNextInclude(output))
        {
            // Each call writes one document.
        }

        output.Write("}"u8);
    }

    /// <summary>
    /// Writes the next included document as a member <c>"id":document</c>, with a comma before it unless it is the first. Returns
    /// false if there are no more. Call it after the last result.
    /// </summary>
    public bool WriteNextInclude(IBufferWriter<byte> output)
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        return _includes?.WriteNext(_found.Snapshot, output) ?? false;
    }

    /// <summary>Visits each document included by the results read. Call it after the last result.</summary>
    internal void VisitIncludes(IncludedVisitor visitor) => _includes?.Visit(_found.Snapshot, visitor);

    /// <summary>
    /// The related data included by the results read; null if the query includes none. Complete after the last result.
    /// </summary>
    public BesideIncluded? IncludedBeside => _beside?.Included;

    /// <summary>The snapshot of the results; valid until the results are disposed.</summary>
    public DatabaseSnapshot Snapshot => _found.Snapshot;

    /// <summary>The names of result fields that are time series. Complete after the last result.</summary>
    public IReadOnlyList<string> TimeSeriesFields => (_projection?.TimeSeriesFields ?? [], _script?.TimeSeriesFields ?? []) switch
    {
        (var selected, { Count: 0 }) => selected,
        ({ Count: 0 }, var computed) => computed,
        (var selected, var computed) => [.. selected, .. computed],
    };

    /// <summary>Whether the query requests highlighting.</summary>
    public bool HasHighlightings => _found.Notes is not null && _context.Query.Highlights.Count > 0;

    /// <summary>Whether the query requests explanations.</summary>
    public bool HasExplanations => _found.Notes is not null && _context.Query.WantsExplanations;

    /// <summary>
    /// Writes the highlights of the results read, as <c>{"field":{"id":["fragment",…],…},…}</c>. Call it after the last result.
    /// </summary>
    public void WriteHighlightings(IBufferWriter<byte> output) => _found.Notes?.WriteHighlightings(output);

    /// <summary>Writes the explanations of the results read, as <c>{"id":["explanation"],…}</c>. Call it after the last
    /// result.</summary>
    public void WriteExplanations(IBufferWriter<byte> output) => _found.Notes?.WriteExplanations(output);

    /// <summary>
    /// Writes the duration of each phase of the query and the query plan, if <see cref="HasTimings"/>. Call it after the last
    /// result.
    /// </summary>
    public void WriteTimings(IBufferWriter<byte> output)
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        _context.Phases?.End("Results");
        if (_script is not null)
            _context.Phases?.Add("Script", _script.Elapsed); // part of the phases above
        using var json = new Utf8JsonWriter(
            output, new JsonWriterOptions { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping });
        PlanJson.WriteTimings(json, Duration, _context.Phases, Plan, Counters);
    }

    /// <summary>Writes the query plan as an SVG image; returns false if it was not requested.</summary>
    public bool TryWritePlanPicture(IBufferWriter<byte> output)
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        if (Plan is not { } plan)
            return false;

        PlanSvg.Write(plan, _context.Request.Text, Counters, Duration, output);
        return true;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (!_isDisposed)
            TakeSnapshot().Dispose();
    }

    /// <summary>The index that answers; null if none is used.</summary>
    internal IndexAnswer? Answer => _found.Answer;

    /// <summary>Ends the reading as <see cref="Dispose"/> does, but for the snapshot, which the caller must dispose.</summary>
    internal DatabaseSnapshot TakeSnapshot()
    {
        if (!_isDisposed)
            _context.Executed?.Invoke(IndexName, Duration);
        _isDisposed = true;
        _found.Notes?.Dispose();
        _source.Dispose();
        return _found.Snapshot;
    }

    /// <summary>Returns the index entry of the current result.</summary>
    private ReadOnlySpan<byte> Entry()
    {
        var fields = new ArrayBufferWriter<byte>();
        EntryRow.WriteFields(_source.Id, _source.Entry(), fields);
        return fields.WrittenSpan;
    }

    /// <summary>Returns the projection of the current result, computed once.</summary>
    private ReadOnlySpan<byte> Projected()
    {
        if (_script is not null && SelectsByScript)
        {
            _tellingBytes = _script.Current.Length;
            return _script.Current.Span;
        }

        if (_projection is null || _projected is null || _values is null)
            return default;

        if (!_isCurrentProjected)
        {
            _projected.ResetWrittenCount();
            _values.Begin(
                _source,
                _script is not null && _context.Query.Script is { Computes: true } ? _script.Compute(_source) : default);
            _tellingBytes = _projection.WriteFields(_values, _projected);
            _isCurrentProjected = true;
        }

        return _projected.WrittenSpan;
    }

    /// <summary>Writes the additional metadata of a result: its score, and its distance if sorted by distance.</summary>
    private ReadOnlySpan<byte> WriteExtraMetadata(Span<byte> scratch)
    {
        int length = 0;
        if (_source.Score is { } score && float.IsFinite(score))
        {
            Append("\"@index-score\":"u8, scratch, ref length);
            Append(score, scratch, ref length);
        }

        if (_source.Place is { } place)
        {
            Append(length > 0 ? ",\"@spatial\":{\"Distance\":"u8 : "\"@spatial\":{\"Distance\":"u8, scratch, ref length);
            Append(place.DistanceKm, scratch, ref length);
            Append(",\"Latitude\":"u8, scratch, ref length);
            Append(place.Point.Latitude, scratch, ref length);
            Append(",\"Longitude\":"u8, scratch, ref length);
            Append(place.Point.Longitude, scratch, ref length);
            Append("}"u8, scratch, ref length);
        }

        return scratch[..length];
    }

    private static void Append(ReadOnlySpan<byte> text, Span<byte> output, ref int length)
    {
        text.CopyTo(output[length..]);
        length += text.Length;
    }

    private static void Append(double value, Span<byte> output, ref int length)
    {
        // A double has at most 24 characters, so the maximum of four fits into the buffer.
        Utf8Formatter.TryFormat(value, output[length..], out int written);
        length += written;
    }

    private static void Append(float value, Span<byte> output, ref int length)
    {
        Utf8Formatter.TryFormat(value, output[length..], out int written);
        length += written;
    }
}
