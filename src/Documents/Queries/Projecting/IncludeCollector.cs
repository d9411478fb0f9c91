using System.Buffers;
using System.Text.Json;
using Treepie.Indexes.Fields;
using Treepie.Json;
using Treepie.Store;

namespace Treepie.Queries.Projecting;

/// <summary>Gathers the ids that results refer to, and writes those documents. Not thread-safe.</summary>
internal sealed class IncludeCollector
{
    /// <summary>Most documents that an answer includes: their ids are kept until the results are written.</summary>
    public const int MaxIncludes = 1_000_000;

    private readonly PathTree _paths;
    private readonly HashSet<string> _seen = new(StringComparer.OrdinalIgnoreCase);
    private readonly List<string> _ids = [];

    /// <summary>Collects the values of paths, and the given ids.</summary>
    public IncludeCollector(IReadOnlyList<FieldPath> paths, IReadOnlyList<string> ids)
    {
        _paths = new PathTree([.. paths.Select(p => (p, 0))]);
        foreach (string id in ids)
            Add(id);
    }

    public void Collect(Document document)
    {
        var sink = new IdSink(this);
        _paths.Visit(document.Body, ref sink);
    }

    /// <summary>
    /// Writes <c>{"id":document,…}</c>; ids without a document are left out. Ends the life of what was read from the snapshot
    /// before.
    /// </summary>
    public void Write(DatabaseSnapshot snapshot, IBufferWriter<byte> output)
    {
        output.Write("{"u8);
        bool isFirst = true;
        foreach (string id in _ids)
        {
            if (!snapshot.TryGet(id, out Document document))
                continue;

            if (!isFirst)
                output.Write(","u8);

            isFirst = false;
            JsonStrings.Write(output, document.Id);
            output.Write(":"u8);
            document.WriteTo(output);
            snapshot.ReleasePages();
        }

        output.Write("}"u8);
    }

    /// <summary>Hands over each document; ids without one are left out.</summary>
    public void Visit(DatabaseSnapshot snapshot, IncludedVisitor visitor)
    {
        foreach (string id in _ids)
        {
            if (snapshot.TryGet(id, out Document document))
                visitor(document);
            snapshot.ReleasePages();
        }
    }

    private void Add(string? id)
    {
        // Nothing longer than an id can be one.
        if (string.IsNullOrEmpty(id) || id.Length > DocumentId.MaxBytes || !_seen.Add(id))
            return;
        if (_ids.Count == MaxIncludes)
            throw new InvalidQueryException(
                $"The answer includes more than {MaxIncludes:N0} documents. Ask for fewer results at a time.");
        _ids.Add(id);
    }

    private readonly struct IdSink(IncludeCollector collector) : IFieldSink
    {
        public void Value(int slot, ref Utf8JsonReader reader)
        {
            if (reader.TokenType == JsonTokenType.String)
                collector.Add(reader.GetString());
        }

        public void Object(int slot, ref Utf8JsonReader reader)
        {
            // An object refers to nothing.
        }

        public void StartOfArray(int slot, ref Utf8JsonReader reader)
        {
        }

        public void EmptyArray(int slot)
        {
            // Nothing to include.
        }
    }
}
