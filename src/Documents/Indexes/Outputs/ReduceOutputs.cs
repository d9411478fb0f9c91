using System.Text;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.States;

namespace Treepie.Indexes.Outputs;

/// <summary>
/// What an index has still to write of its outputs, and what it must not write. Which outputs a document refers to lies beside
/// the index in its store:
/// <code>
/// TREE               KEY                                                      VALUE
/// reduce.references  id of the reference, folded; 0; the hash in the id of the output   id of the reference
/// </code>
/// </summary>
/// <remarks>
/// Only the thread that indexes notes and takes; refusals are thread-safe. What is to be written is not kept on the disk: an
/// index that is opened compares all its outputs with the documents once, so that no stop at any moment leaves a wrong one.
/// </remarks>
internal sealed class ReduceOutputs(OutputTarget target)
{
    /// <summary>Name of the tree of references.</summary>
    public const string ReferencesTree = "reduce.references";

    /// <summary>Most outputs of one reference.</summary>
    public const int MostOfReference = 16_384;

    private const int HashLength = 32;

    /// <summary>With more groups that have changed, all are compared.</summary>
    private const int MostNoted = 65_536;

    private const int MostRefusals = 64;

    private readonly Lock _lock = new();
    private readonly Dictionary<byte[], int> _groups = new(KeyEquality.Instance);
    private readonly HashSet<byte[]> _references = new(KeyEquality.Instance);
    private readonly SortedDictionary<string, string> _refusals = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>Where they are written.</summary>
    public OutputTarget Target => target;

    /// <summary>Whether all outputs are to be compared with the documents.</summary>
    public bool IsAll { get; private set; } = true;

    /// <summary>Groups that have changed, and the most outputs that each has had.</summary>
    public IReadOnlyDictionary<byte[], int> Groups => _groups;

    /// <summary>References that have changed, folded.</summary>
    public IReadOnlyCollection<byte[]> References => _references;

    /// <summary>The key of a reference to an output.</summary>
    public static byte[] ReferenceKey(string reference, string output) =>
        [.. OutputDocument.Folded(reference), 0, .. Encoding.UTF8.GetBytes(output[^HashLength..])];

    /// <summary>The reference, folded, of its key.</summary>
    public static ReadOnlySpan<byte> ReferenceOf(ReadOnlySpan<byte> key) => key[..^(HashLength + 1)];

    /// <summary>The id of the output of the key of a reference.</summary>
    public string OutputOf(ReadOnlySpan<byte> key) => $"{target.Collection}/{Encoding.UTF8.GetString(key[^HashLength..])}";

    /// <summary>Why an output has no reference; null: it has one, or needs none.</summary>
    public string? ProblemOf(ReadOnlySpan<byte> output)
    {
        try
        {
            target.Pattern?.IdOf(output);
            return null;
        }
        catch (FormatException error)
        {
            return error.Message;
        }
    }

    /// <summary>Notes that the results of a group have changed.</summary>
    /// <param name="references">The tree of references, to be changed; null where there is no pattern.</param>
    /// <param name="group">The group.</param>
    /// <param name="old">What it was.</param>
    /// <param name="now">What it is.</param>
    public void Note(StateTree? references, byte[] group, GroupNode old, GroupNode now)
    {
        int most = Math.Max(old.Objects.Count, now.Objects.Count);
        for (int i = 0; i < most && references is not null; i++)
        {
            string? before = i < old.Objects.Count ? ReferenceTo(old.Objects[i].Span) : null,
                after = i < now.Objects.Count ? ReferenceTo(now.Objects[i].Span) : null;
            if (before == after)
                continue;
            string output = OutputDocument.IdOf(target.Collection, group, i);
            if (before is not null)
                references.Delete(NoteReference(ReferenceKey(before, output)));
            if (after is not null)
                references.Put(NoteReference(ReferenceKey(after, output)), Encoding.UTF8.GetBytes(after));
        }

        if (IsAll)
            return;
        _groups[group] = Math.Max(most, _groups.GetValueOrDefault(group));
        if (_groups.Count + _references.Count > MostNoted)
            Clear(isAll: true);
    }

    /// <summary>All that was noted is written.</summary>
    public void Written() => Clear(isAll: false);

    /// <summary>A document must not be written, for a reason that ends a sentence; null: it could be.</summary>
    public void Refuse(string id, string? reason)
    {
        lock (_lock)
        {
            if (reason is null)
                _refusals.Remove(id);
            else if (_refusals.Count < MostRefusals || _refusals.ContainsKey(id))
                _refusals[id] = reason;
        }
    }

    /// <summary>What is said beside the answers of the index.</summary>
    public IReadOnlyList<string> Warnings(string index)
    {
        lock (_lock)
        {
            return _refusals.Count == 0
                ? []
                : [$"Index '{index}' could not write {_refusals.Count} of its documents: '{_refusals.First().Key}' "
                    + $"{_refusals.First().Value}"];
        }
    }

    private string? ReferenceTo(ReadOnlySpan<byte> output)
    {
        try
        {
            return target.Pattern?.IdOf(output);
        }
        catch (FormatException)
        {
            return null; // told as an error of its group
        }
    }

    private byte[] NoteReference(byte[] key)
    {
        if (!IsAll)
            _references.Add(ReferenceOf(key).ToArray());
        return key;
    }

    private void Clear(bool isAll)
    {
        IsAll = isAll;
        _groups.Clear();
        _references.Clear();
    }
}
