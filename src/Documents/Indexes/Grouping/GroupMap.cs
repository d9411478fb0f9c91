using System.Buffers;
using System.Text.Json;
using Treepie.Computations;
using Treepie.Indexes.Fields;
using Treepie.Indexes.States;
using Treepie.Store;

namespace Treepie.Indexes.Grouping;

/// <summary>
/// Maps a document to the objects that a <c>group by</c> counts and aggregates. Each key has the values at its path, each with
/// the array elements in which it was found. The results of a document are all combinations of one value per key in which
/// values from the same array are from the same element. The values to aggregate are found and selected in the same way.
/// </summary>
internal sealed class GroupMap : IndexMap
{
    /// <summary>
    /// The maximum length of a key as JSON, which is stored with each result: the 128 results that are reduced together have
    /// 32 MiB of it at most.
    /// </summary>
    public const int MaxKeyBytes = 256 * 1024;

    private static readonly JsonDocumentOptions _options = new() { MaxDepth = CanonicalJson.MaxDepth };

    private readonly GroupKey[] _keys;
    private readonly FieldPath?[] _keyPaths;
    private readonly GroupAggregate[] _aggregates;
    private readonly FieldPath?[] _aggregatePaths;
    private readonly byte[][] _keyNames;
    private readonly byte[][] _namesInWholeKey;
    private readonly byte[] _wholeKeyName = GroupReduce.NameOf(GroupDefinition.WholeKey);
    private readonly byte[] _countName = GroupReduce.NameOf(GroupDefinition.Count);
    private readonly byte[][] _aggregateNames;
    private readonly bool _needsMetadata;

    public GroupMap(GroupDefinition definition)
    {
        Collections = definition.Collections;
        _keys = [.. definition.Keys];
        _keyPaths = [.. _keys.Select(key => FieldPath.TryParse(key.Path))];
        _aggregates = [.. definition.Aggregates];
        _aggregatePaths = [.. _aggregates.Select(one => FieldPath.TryParse(one.Path))];
        _keyNames = [.. _keys.Select(key => GroupReduce.NameOf(key.Member))];
        _namesInWholeKey = [.. _keys.Select(key => GroupReduce.NameOf(key.Name))];
        _aggregateNames = [.. _aggregates.Select(one => GroupReduce.NameOf(one.Member))];
        _needsMetadata = _keyPaths.Concat(_aggregatePaths).Any(path => path is { IsMetadata: true });
        Fields = [.. definition.Fields.Select(field => new MappedField(field.Path))];
    }

    public override IReadOnlyList<string> Collections { get; }

    public override IReadOnlyList<MappedField> Fields { get; }

    public override void Map(Document document, IMapHost host, MapOutput output)
    {
        byte[] copy = ArrayPool<byte>.Shared.Rent(document.Body.Length);
        try
        {
            document.Body.CopyTo(copy);
            using JsonDocument body = JsonDocument.Parse(copy.AsMemory(0, document.Body.Length), _options);
            Map(body.RootElement, _needsMetadata ? Metadata(document) : default, output);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(copy, clearArray: true); // the database may be encrypted
        }
    }

    private void Map(JsonElement body, JsonElement metadata, MapOutput output)
    {
        var values = new List<FoundValue>[_aggregates.Length];
        for (int i = 0; i < values.Length; i++)
            values[i] = Find(_aggregatePaths[i], body, metadata);
        List<FoundValue[]> rows = [[]];
        for (int i = 0; i < _keys.Length && rows.Count > 0; i++)
        {
            List<FoundValue> found = Find(_keyPaths[i], body, metadata);
            rows = _keys[i].IsContent
                ? [.. rows.Select(row => (FoundValue[])[.. row, new FoundValue(default, []) { Content = found }])]
                : Join(rows, found);
        }

        foreach (FoundValue[] row in rows)
            Write(row, values, output);
    }

    private static JsonElement Metadata(Document document)
    {
        var whole = new ArrayBufferWriter<byte>();
        document.WriteTo(whole, metadataOnly: true);
        var reader = new Utf8JsonReader(whole.WrittenSpan, new JsonReaderOptions { MaxDepth = CanonicalJson.MaxDepth });
        return JsonElement.ParseValue(ref reader);
    }

    private static List<FoundValue> Find(FieldPath? path, JsonElement body, JsonElement metadata)
    {
        var found = new List<FoundValue>();
        if (path is not null)
            new ValueFinder(path, found).Find(path.IsMetadata ? metadata : body);
        return found;
    }

    private static List<FoundValue[]> Join(List<FoundValue[]> rows, List<FoundValue> values)
    {
        var joined = new List<FoundValue[]>();
        foreach (FoundValue[] row in rows)
        {
            foreach (FoundValue value in values)
            {
                if (!GoesWith(row, value))
                    continue;
                if (joined.Count == MapOutput.MaxObjects)
                    throw new ComputationException($"the document is in more than {MapOutput.MaxObjects:N0} groups.");
                joined.Add([.. row, value]);
            }
        }

        return joined;
    }

    private static bool GoesWith(FoundValue[] row, FoundValue value)
    {
        foreach (FoundValue other in row)
            if (!other.GoesWith(value))
                return false;
        return true;
    }

    private void Write(FoundValue[] row, List<FoundValue>[] values, MapOutput output)
    {
        IBufferWriter<byte> buffer = output.Buffer;
        buffer.Write("{"u8);
        WriteKeys(row, _keyNames, output);
        buffer.Write(","u8);
        if (row.Length > 1)
        {
            buffer.Write(_wholeKeyName);
            buffer.Write("{"u8);
            WriteKeys(row, _namesInWholeKey, output);
            buffer.Write("},"u8);
        }

        buffer.Write(_countName);
        buffer.Write("1"u8);
        for (int i = 0; i < values.Length; i++)
        {
            buffer.Write(","u8);
            buffer.Write(_aggregateNames[i]);
            WriteAggregate(row, _aggregates[i], values[i], buffer);
        }

        buffer.Write("}"u8);
        output.EndObject();
    }

    private void WriteKeys(FoundValue[] row, byte[][] names, MapOutput output)
    {
        for (int i = 0; i < row.Length; i++)
        {
            if (i > 0)
                output.Buffer.Write(","u8);
            output.Buffer.Write(names[i]);
            long start = output.WrittenBytes;
            if (row[i].Content is { } content)
                WriteContent(content, output.Buffer);
            else
                CanonicalJson.Write(row[i].Value, output.Buffer);
            if (output.WrittenBytes - start is > MaxKeyBytes and var length)
                throw new ComputationException(
                    $"its value of '{_keys[i].Name}' has {length:N0} bytes; a key of a group has {MaxKeyBytes:N0} at the most.");
        }
    }

    private static void WriteContent(List<FoundValue> content, IBufferWriter<byte> output)
    {
        output.Write("["u8);
        for (int i = 0; i < content.Count; i++)
        {
            if (i > 0)
                output.Write(","u8);
            CanonicalJson.Write(content[i].Value, output);
        }

        output.Write("]"u8);
    }

    private static void WriteAggregate(
        FoundValue[] row, GroupAggregate aggregate, List<FoundValue> values, IBufferWriter<byte> output)
    {
        var state = new AggregateState(aggregate.Kind);
        foreach (FoundValue value in values)
            if (GoesWith(row, value))
                state.AddValue(value.Value);
        state.WriteTo(output);
    }
}
