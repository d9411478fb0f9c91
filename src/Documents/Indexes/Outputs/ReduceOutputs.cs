using System.Text;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.States;

namespace Treepie.Indexes.Outputs;

/// <summary>
/// The outputs that an index has yet to write, and those it cannot write. The outputs that a reference document lists are
/// stored in the index:
/// <code>
/// TREE               KEY                                                      VALUE
/// reduce.references  id of the reference, folded; 0; the hash in the id of the output   id of the reference
/// </code>
/// </summary>
/// <remarks>
/// Only the indexing thread records and takes changes; errors are thread-safe. Pending changes are not stored on disk: when
/// an index is opened, it compares all its outputs with the documents once, so that a stop at any time leaves no wrong
/// output.
/// </remarks>
internal sealed class ReduceOutputs(OutputTarget target)
{
    /// <summary>The name of the tree of references.</summary>
    public const string ReferencesTree = "reduce.references";

    /// <summary>The maximum number of outputs of one reference document.</summary>
    public const int MostOfReference = 16_384;

    private const int HashLength = 32;

    /// <summary>The number of changed groups above which all outputs are compared.</summary>
    private const int MostNoted = 65_536;

    private const int MostRefusals = 64;

    private readonly Lock _lock = new();
    private readonly Dictionary<byte[], int> _groups = new(KeyEquality.Instance);
    private readonly HashSet<byte[]> _references = new(KeyEquality.Instance);
    private readonly SortedDictionary<string, string> _refusals = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>The target to which outputs are written.</summary>
    public OutputTarget Target => target;

    /// <summary>Whether all outputs must be compared with the documents.</summary>
    public bool IsAll { get; private set; } = true;

    /// <summary>The changed groups, and the maximum number of outputs that each has had.</summary>
    public IReadOnlyDictionary<byte[], int> Groups => _groups;

    /// <summary>The folded ids of changed reference documents.</summary>
    public IReadOnlyCollection<byte[]> References => _references;

    /// <summary>Returns the key of a reference to an output.</summary>
    public static byte[] ReferenceKey(string reference, string output) =>
        [.. OutputDocument.Folded(reference), 0, .. Encoding.UTF8.GetBytes(output[^HashLength..])];

    /// <summary>Returns the folded id of the reference document of a key.</summary>
    public static ReadOnlySpan<byte> ReferenceOf(ReadOnlySpan<byte> key) => key[..^(HashLength + 1)];

    /// <summary>Returns the id of the output of a key.</summary>
    public string OutputOf(ReadOnlySpan<byte> key) => $"{target.Collection}/{Encoding.UTF8.GetString(key[^HashLength..])}";

    /// <summary>Returns why an output has no valid reference; null if it has one or needs none.</summary>
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

    /// <summary>Records that the results of a group have changed.</summary>
    /// <param name="references">The tree of references, which is updated; null if there is no pattern.</param>
    /// <param name="group">The key of the group.</param>
    /// <param name="old">The previous result.</param>
    /// <param name="now">The new result.</param>
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

    /// <summary>Clears the recorded changes after they have been written.</summary>
    public void Written() => Clear(isAll: false);

    /// <summary>Records the reason why a document cannot be written, as the end of a sentence, or clears it if null.</summary>
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

    /// <summary>Returns the warnings for the results of the index.</summary>
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
            return null; // reported as an error of its group
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
