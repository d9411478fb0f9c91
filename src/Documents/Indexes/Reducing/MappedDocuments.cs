using Treepie.Indexes.States;

namespace Treepie.Indexes.Reducing;

/// <summary>Mapped changes; keeps the last one of each document. Not thread-safe.</summary>
internal sealed class MappedDocuments
{
    private const int BytesOfDocument = 200, BytesOfResult = 150;

    private readonly Dictionary<byte[], MappedDocument> _documents = new(KeyEquality.Instance);

    /// <summary>The number of changes added.</summary>
    public int Count { get; private set; }

    /// <summary>The approximate memory in bytes.</summary>
    public long SizeBytes { get; private set; }

    /// <summary>The last change of each document.</summary>
    public IReadOnlyCollection<MappedDocument> Last => _documents.Values;

    /// <summary>Returns the references of each document.</summary>
    public IReadOnlyDictionary<byte[], UInt128[]> References() =>
        _documents.ToDictionary(pair => pair.Key, pair => pair.Value.References, KeyEquality.Instance);

    public void Add(MappedDocument document)
    {
        _documents[document.Key] = document;
        Count++;
        SizeBytes += BytesOfDocument;
        foreach (MappedResult result in document.Results)
            SizeBytes += BytesOfResult + result.Json.Length;
    }

    public void Clear()
    {
        _documents.Clear();
        Count = 0;
        SizeBytes = 0;
    }
}
