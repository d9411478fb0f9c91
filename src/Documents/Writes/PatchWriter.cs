using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Computations;
using Treepie.Json;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Writes;

/// <summary>
/// Executes a patch inside the transaction of its batch: the script sees what the batch has written so far, and what it stores
/// and deletes is written atomically with it. Created for one patch.
/// </summary>
internal sealed class PatchWriter(DocumentWriter writer, PatchCommand patch) : IScriptHost
{
    /// <summary>The maximum number of output lines of a script that are kept.</summary>
    private const int MostLines = 1_024;

    private static readonly JsonElement _nothing = JsonDocument.Parse("{}").RootElement;

    /// <summary>The maximum number of actions of a script that are kept.</summary>
    private const int MostActions = 1_024;

    private readonly List<string> _lines = [];
    private string _id = "";
    private Patch? _running;
    private readonly List<PatchAction> _actions = [];

    /// <summary>Executes the patch; the write result is null if the document was not written.</summary>
    /// <exception cref="ScriptException">The script failed; the batch is undone.</exception>
    public (WriteResult? Written, PatchResult Result) Apply(in WriteCommand command)
    {
        bool exists = writer.TryGet(command.FoldedId.Span, out DocumentRecord record);
        if (IsSkipped(command.Id, exists ? record.Etag : 0))
            return (null, Result(PatchStatus.Skipped, default, default));

        byte[] before = exists ? Whole(record) : [];
        byte[] after;
        if (exists)
            after = Run(command.Id, patch.Patch, patch.Options.Arguments, before);
        else if (!patch.Options.CreateIfMissing.IsEmpty)
            after = patch.Options.CreateIfMissing.ToArray();
        else if (patch.Options.IfMissing is { } create)
            after = Run(command.Id, create, patch.Options.IfMissingArguments, "{}"u8.ToArray());
        else
            return (null, Result(PatchStatus.DocumentDoesNotExist, default, default));

        using var batch = new WriteBatch(patch.Database);
        batch.Put(command.Id, after, exists ? null : patch.Options.ExpectedChangeVector);
        WriteCommand put = batch.Commands[0];
        if (exists && IsSame(command.FoldedId.Span, put))
            return (null, Result(PatchStatus.NotModified, before, before));

        WriteResult? written = writer.Put(in put);
        return (written, Result(exists ? PatchStatus.Patched : PatchStatus.Created, before, after));
    }

    /// <inheritdoc/>
    public byte[]? Load(string id)
    {
        byte[]? document = TryFind(id, out DocumentRecord record) ? Whole(record) : null;
        Note(PatchActionKind.LoadDocument, id, json: document);
        return document;
    }

    /// <inheritdoc/>
    public byte[]? CompareExchange(string key)
    {
        byte[]? value = ValueOf(key);
        Note(PatchActionKind.GetCompareExchangeValue, key, json: value);
        return value;
    }

    private byte[]? ValueOf(string key)
    {
        if (!writer.Kinds.TryGet(
            CompareExchangeValue.TreeKey(KindNames.Encode("a compare-exchange value", key)), out KindRecord record))
            return null;
        return CompareExchangeValue.Read(record, writer.ChangeVectors).Held();
    }

    /// <inheritdoc/>
    public long? Counter(string id, string name)
    {
        Note(PatchActionKind.GetCounter, id, name);
        return writer.Kinds.TryGet(
            KindKey.OfName(Kind.Counter, Fold(id), KindNames.Encode("a counter", name)), out KindRecord record)
            ? CounterValue.Read(id, record, writer.ChangeVectors).Value
            : null;
    }

    /// <inheritdoc/>
    public string Put(string id, ReadOnlyMemory<byte> json, string? expectedChangeVector)
    {
        using var batch = new WriteBatch(patch.Database);
        batch.Put(id, json, expectedChangeVector);
        WriteCommand put = batch.Commands[0];
        string whole = writer.Put(in put, isAnswered: true)?.Id ?? put.Id;
        Note(PatchActionKind.PutDocument, whole, json: json);
        return whole;
    }

    /// <inheritdoc/>
    public void Delete(string id, string? expectedChangeVector)
    {
        using var batch = new WriteBatch(patch.Database);
        batch.Delete(id, expectedChangeVector);
        WriteCommand delete = batch.Commands[0];
        writer.Delete(in delete);
        Note(PatchActionKind.DeleteDocument, id);
    }

    /// <inheritdoc/>
    public void IncrementCounter(string id, string name, long delta)
    {
        Counters(id, CounterOperation.Of(CounterOperationKind.Increment, name, delta));
        Note(PatchActionKind.IncrementCounter, id, name, delta);
    }

    /// <inheritdoc/>
    public void DeleteCounter(string id, string name)
    {
        Counters(id, CounterOperation.Of(CounterOperationKind.Delete, name, 0));
        Note(PatchActionKind.DeleteCounter, id, name);
    }

    /// <inheritdoc/>
    public IEnumerable<TimeSeriesPoint> TimeSeries(string id, string name, DateTime from, DateTime to)
    {
        Note(PatchActionKind.GetTimeSeries, id, name);
        return writer.Kinds.Items.TimeSeries(
            Fold(id), Encoding.UTF8.GetString(KindNames.Encode("a time series", name)), from, to);
    }

    /// <inheritdoc/>
    public byte[] DeclaredTimeSeries(int declared, string? id)
    {
        if (_running?.Series is not { } series)
            throw new ScriptException(
                "A patch declares no time series: read entries by timeseries(this, 'Heartrate').get(from, to).");
        var json = new ArrayBufferWriter<byte>();
        series(
            declared, Fold(id ?? _id), writer.Kinds.Items,
            tag => TryFind(tag, out DocumentRecord record) ? writer.BodyOf(record).ToArray() : null, json,
            patch.Options.CancellationToken);
        return json.WrittenSpan.ToArray();
    }

    /// <inheritdoc/>
    public void ChangeTimeSeries(
        string id, string name, IReadOnlyList<TimeSeriesPoint> points, IReadOnlyList<(DateTime From, DateTime To)> deletes)
    {
        using var batch = new WriteBatch(patch.Database);
        batch.TimeSeries(id, name, points, deletes);
        batch.Commands[0].Beside?.Apply(writer);
        Note(PatchActionKind.ChangeTimeSeries, id, name);
    }

    /// <inheritdoc/>
    public void Include(ScriptIncludeKind kind, string name)
    {
        // A patch has no answer to add to. Functions shared by queries and patches call it, so it is not an error.
    }

    /// <inheritdoc/>
    public void Write(string line)
    {
        if (_lines.Count < MostLines)
            _lines.Add(line);
    }

    /// <summary>Records an action of the script, if requested; the JSON is copied.</summary>
    private void Note(
        PatchActionKind kind, string id, string? name = null, long? delta = null, ReadOnlyMemory<byte> json = default)
    {
        if (patch.Options.ReturnsActions && _actions.Count < MostActions)
            _actions.Add(new PatchAction(kind, id) { Name = name, Delta = delta, Json = json.ToArray() });
    }

    private void Counters(string id, CounterOperation operation) => new CountersCommand(id, Fold(id), [operation]).Apply(writer);

    /// <summary>Finds a document; none has the empty id.</summary>
    private bool TryFind(string id, out DocumentRecord record)
    {
        record = default;
        return id.Length > 0 && writer.TryGet(Fold(id), out record);
    }

    private byte[] Fold(string id) => CollectionName.Fold(DocumentId.Encode(id, patch.Database.MaxIdBytes));

    private bool IsSkipped(string id, long etag)
    {
        if (patch.Options.ExpectedChangeVector is not { } expected)
            return false;
        try
        {
            writer.Check(id, expected, etag);
            return false;
        }
        catch (ConcurrencyException) when (patch.Options.SkipsOtherChangeVectors)
        {
            return true;
        }
    }

    private byte[] Run(string id, Patch script, JsonElement arguments, byte[] document)
    {
        patch.Options.CancellationToken.ThrowIfCancellationRequested();
        (_id, _running) = (id, script);
        var output = new ArrayBufferWriter<byte>(document.Length + 256);
        try
        {
            var call = new ScriptCall(
                document, [arguments.ValueKind == JsonValueKind.Undefined ? _nothing : arguments], ReturnsThis: true);
            script.Script.Call(Patch.Function, call, this, output, patch.Options.CancellationToken);
        }
        catch (ScriptException error)
        {
            throw new ScriptException(
                $"Document '{id}' was not patched, and nothing of the batch was written. {error.Message}", error.Line,
                error.Column, error.IsSyntax, error);
        }

        return output.WrittenSpan.ToArray();
    }

    /// <summary>Returns whether a put would leave the document unchanged.</summary>
    private bool IsSame(ReadOnlySpan<byte> foldedId, in WriteCommand put)
    {
        return writer.TryGet(foldedId, out DocumentRecord now)
            && writer.BodyOf(now).SequenceEqual(put.Body.Span)
            && now.Metadata.SequenceEqual(put.Metadata.Span);
    }

    /// <summary>Returns the document in the form that clients see.</summary>
    private byte[] Whole(DocumentRecord record)
    {
        var output = new ArrayBufferWriter<byte>(record.ContentBytes + 256);
        ReadOnlySpan<byte> body = writer.BodyOf(record), metadata = record.Metadata;
        bool isAlone = body.Length <= 2;
        output.Write(isAlone ? "{"u8 : body[..^1]);
        output.Write(isAlone ? "\"@metadata\":{"u8 : ",\"@metadata\":{"u8);
        if (metadata.Length > 2)
        {
            output.Write(metadata[1..^1]);
            output.Write(","u8);
        }

        output.Write("\"@id\":"u8);
        JsonStrings.Write(output, record.Id);
        output.Write(",\"@collection\":"u8);
        JsonStrings.Write(output, Encoding.UTF8.GetBytes(writer.CollectionOf(record)));
        output.Write(Encoding.UTF8.GetBytes(
            $",\"@change-vector\":\"{writer.ChangeVectors.Format(record.Etag)}\",\"@last-modified\":\""
                + $"{new DateTime(record.LastModifiedTicks, DateTimeKind.Utc):O}\"}}}}"));
        return output.WrittenSpan.ToArray();
    }

    private PatchResult Result(PatchStatus status, byte[]? before, byte[]? after) =>
        patch.Options.ReturnsDocuments
            ? new PatchResult(status, before ?? [], after ?? [], _lines) { Actions = _actions }
            : new PatchResult(status, default, default, _lines) { Actions = _actions };
}
