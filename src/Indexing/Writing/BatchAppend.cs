using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Writing;

/// <summary>
/// Adds one batch to another, which is then what it would be had everything been added to it: words and keys get the ordinals of
/// their first appearance in the whole. So what is committed does not depend on how many threads made it.
/// </summary>
/// <param name="target">The batch that grows.</param>
internal sealed class BatchAppend(IndexBatch target)
{
    /// <summary>By field: what the words of the other are here, by their ordinals there.</summary>
    private readonly Dictionary<int, int[]> words = [];
    private int[] keys = [];
    private int[] numbers = [];

    /// <summary>Adds; returns by how much the size of both together is more than that of the two.</summary>
    public long Run(IndexBatch other)
    {
        int firstOwner = target.Entries.Count;
        long known = AppendKeys(other, firstOwner);
        foreach (int field in other.UsedFields)
        {
            BatchField source = other.Field(field);
            int[] terms = words.GetValueOrDefault(field, []);
            TermTable.GrowTo(ref terms, source.Terms.Count);
            words[field] = terms;
            TermTable.GrowTo(ref numbers, source.Numbers.Count);
            known += target.Use(field).Append(source, firstOwner, terms, numbers);
        }

        target.Stored.Append(other.Stored, firstOwner);
        return AppendEntries(other) - known;
    }

    private long AppendKeys(IndexBatch other, int firstOwner)
    {
        TermTable.GrowTo(ref keys, other.Keys.Count);
        long known = 0;
        for (int i = 0; i < other.Keys.Count; i++)
        {
            ReadOnlySpan<byte> key = other.Keys[i];
            int ordinal = keys[i] = target.Keys.Intern(key);
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

    /// <summary>Adds the records; returns by how much they grew.</summary>
    private long AppendEntries(IndexBatch other)
    {
        int before = target.Records.Length;
        foreach (BatchEntry entry in other.Entries)
        {
            int start = target.Records.Length;
            AppendRecord(other.Records.Slice(entry.RecordStart, entry.RecordLength));
            target.Entries.Add(new BatchEntry(keys[entry.Key], start, target.Records.Length - start));
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

            // Words have other ordinals; all in front of them stays.
            target.Records.Add(record[..^group.Length]);
            target.Records.AddVarint(head);
            int count = Varint.Read(ref rest);
            target.Records.AddVarint(count);
            int[] ordinals = words[head >> 3];
            for (int i = 0; i < count; i++)
                target.Records.AddVarint(ordinals[Varint.Read(ref rest)]);
            record = rest;
        }

        target.Records.Add(record);
    }
}
