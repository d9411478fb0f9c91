using System.Diagnostics;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Writing;

/// <summary>
/// Appends one batch to another with the same result as adding everything to one batch: words and keys get ordinals by their
/// first appearance in the combined batch, so a commit does not depend on the number of threads that built it.
/// </summary>
/// <param name="target">The batch to append to.</param>
internal sealed class BatchAppend(IndexBatch target)
{
    /// <summary>Per field: the ordinal in the target for each ordinal of a term in the source.</summary>
    private readonly Dictionary<int, int[]> _words = [];
    private int[] _keys = [];
    private int[] _numbers = [];

    /// <summary>Appends a batch; returns the change of the combined size relative to the sum of both sizes.</summary>
    public long Run(IndexBatch other)
    {
        int firstOwner = target.Entries.Count;
        long known = AppendKeys(other, firstOwner);
        foreach (int field in other.UsedFields)
        {
            BatchField source = other.Field(field);
            int[] terms = _words.GetValueOrDefault(field, []);
            TermTable.GrowTo(ref terms, source.Terms.Count);
            _words[field] = terms;
            TermTable.GrowTo(ref _numbers, source.Numbers.Count);
            known += target.Use(field).Append(source, firstOwner, terms, _numbers);
        }

        target.Stored.Append(other.Stored, firstOwner);
        long grown = AppendEntries(other);
        Debug.Assert(target.Entries.Count == firstOwner + other.Entries.Count, "each entry is appended once");
        Debug.Assert(target.LastOfKey.Count == target.Keys.Count, "each key has a last entry, or none");
        return grown - known;
    }

    private long AppendKeys(IndexBatch other, int firstOwner)
    {
        TermTable.GrowTo(ref _keys, other.Keys.Count);
        long known = 0;
        for (int i = 0; i < other.Keys.Count; i++)
        {
            ReadOnlySpan<byte> key = other.Keys[i];
            int ordinal = _keys[i] = target.Keys.Intern(key);
            int last = other.LastOfKey[i] < 0 ? -1 : firstOwner + other.LastOfKey[i];
            if (ordinal == target.LastOfKey.Count)
            {
                target.LastOfKey.Add(last);
            }
            else
            {
                target.LastOfKey[ordinal] = last;
                known += key.Length + IndexBatch.BytesOfKey;
            }

            if (other.Errors.TryGetValue(i, out EntryError? error))
                target.Errors[ordinal] = error;
            else
                target.Errors.Remove(ordinal);
        }

        return known;
    }

    /// <summary>Appends the records; returns the number of bytes by which they grew.</summary>
    private long AppendEntries(IndexBatch other)
    {
        int before = target.Records.Length;
        foreach (BatchEntry entry in other.Entries)
        {
            int start = target.Records.Length;
            AppendRecord(other.Records.Slice(entry.RecordStart, entry.RecordLength));
            target.Entries.Add(new BatchEntry(_keys[entry.Key], start, target.Records.Length - start));
        }

        return target.Records.Length - before - other.Records.Length;
    }

    private void AppendRecord(ReadOnlySpan<byte> record)
    {
        ReadOnlySpan<byte> rest = record;
        int keyBytes = Varint.Read(ref rest);
        rest = rest[keyBytes..];
        while (!rest.IsEmpty)
        {
            ReadOnlySpan<byte> group = rest;
            int head = Varint.Read(ref rest);
            if ((EntryGroup)(head & 7) != EntryGroup.Words)
            {
                RecordEncoder.Skip((EntryGroup)(head & 7), ref rest);
                continue;
            }

            // The ordinals of words change; everything before them is copied.
            target.Records.Add(record[..^group.Length]);
            target.Records.AddVarint(head);
            int count = Varint.Read(ref rest);
            target.Records.AddVarint(count);
            int[] ordinals = _words[head >> 3];
            for (int i = 0; i < count; i++)
                target.Records.AddVarint(ordinals[Varint.Read(ref rest)]);
            record = rest;
        }

        target.Records.Add(record);
    }
}
