using System.Buffers;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Indexing;
using Treepie.Json;
using Treepie.Store;

namespace Treepie.Indexes.Extraction;

/// <summary>
/// Adds the values that queries select without reading documents to entries: as JSON, as written in the document, by the
/// slot of their field; and the id, in its original case, in <see cref="IdSlot"/>. Not thread-safe.
/// </summary>
internal sealed class StoredExtractor
{
    /// <summary>The slot of the id.</summary>
    public const int IdSlot = 0;

    private readonly List<(int Slot, FieldPath? Path)> _fields = [];
    private readonly ArrayBufferWriter<byte> _value = new();

    public StoredExtractor(IndexMapping mapping)
    {
        foreach (StoredField field in mapping.StoredFields)
            if (field is { IsStored: true, IsDynamic: false })
                _fields.Add((field.Slot, field.Path == AutoIndexField.Id ? null : FieldPath.TryParse(field.Path)));
    }

    /// <summary>Adds the stored values of a document to the current entry of a batch.</summary>
    /// <param name="document">The document.</param>
    /// <param name="batch">The batch.</param>
    /// <param name="named">The values of dynamic fields, by slot.</param>
    public void Add(Document document, IndexBatch batch, SortedDictionary<int, byte[]>? named)
    {
        batch.AddStored(IdSlot, document.Id);
        foreach ((int slot, FieldPath? path) in _fields)
        {
            if (named is not null && named.Remove(slot, out byte[]? said))
            {
                batch.AddStored(slot, said);
                continue;
            }

            _value.ResetWrittenCount();
            if (path is null)
                JsonStrings.Write(_value, document.Id);
            else if (!DocumentValues.TryWrite(document, path, _value))
                continue;
            batch.AddStored(slot, _value.WrittenSpan);
        }

        foreach ((int slot, byte[] value) in named ?? []) // their slots follow all others
            batch.AddStored(slot, value);
    }
}
