using System.Buffers;
using System.Text.Json;
using Treepie.Indexes.Fields;
using Treepie.Json;
using Treepie.Store;

namespace Treepie.Queries.Projecting;

/// <summary>Collects the ids that results refer to, and writes those documents. Not thread-safe.</summary>
internal sealed class IncludeCollector
{
    /// <summary>The maximum number of included documents; their ids are held until the results are written.</summary>
    public const int MaxIncludes = 1_000_000;

    private readonly PathTree _paths;
    private readonly bool _hasPaths;
    private readonly HashSet<string> _seen = new(StringComparer.OrdinalIgnoreCase);
    private readonly List<string> _ids = [];
    private int _next; // the index in _ids of the next document to write
    private bool _hasWritten;

    /// <summary>Creates a collector for the values at paths and for the given ids.</summary>
    public IncludeCollector(IReadOnlyList<FieldPath> paths, IReadOnlyList<string> ids)
    {
        _hasPaths = paths.Count > 0;
        _paths = new PathTree([.. paths.Select(p => (p, 0))]);
        foreach (string id in ids)
            Add(id);
    }

    public void Collect(Document document)
    {
        if (!_hasPaths)
            return;
        var sink = new IdSink(this);
        _paths.Visit(document.Body, ref sink);
    }

    /// <summary>
    /// Writes the next document as a member <c>"id":document</c>, with a comma before it unless it is the first. Returns false if
    /// there are no more. Skips ids that have no document. Invalidates everything read from the snapshot earlier.
    /// </summary>
    public bool WriteNext(DatabaseSnapshot snapshot, IBufferWriter<byte> output)
    {
        while (_next < _ids.Count)
        {
            if (!snapshot.TryGet(_ids[_next++], out Document document))
                continue;

            if (_hasWritten)
                output.Write(","u8);

            _hasWritten = true;
            JsonStrings.Write(output, document.Id);
            output.Write(":"u8);
            document.WriteTo(output);
            snapshot.ReleasePages();
            return true;
        }

        return false;
    }

    /// <summary>Calls the visitor with each document; ids without a document are skipped.</summary>
    public void Visit(DatabaseSnapshot snapshot, IncludedVisitor visitor)
    {
        foreach (string id in _ids)
        {
            if (snapshot.TryGet(id, out Document document))
                visitor(document);
            snapshot.ReleasePages();
        }
    }

    /// <summary>Includes a document, once.</summary>
    public void Add(string? id)
    {
        // A longer string cannot be an id: its UTF-8 form is at least as long.
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
            // An object is not a reference.
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
