namespace Treepie.Bench.Suites.Filter;

/// <summary>The ways of removing negative numbers that the kernel is compared with.</summary>
internal static class FilterForms
{
    /// <summary>As anyone would write it: a branch for each number.</summary>
    public static int Scalar(Span<long> items)
    {
        int kept = 0;
        for (int i = 0; i < items.Length; i++)
        {
            if (items[i] >= 0)
                items[kept++] = items[i];
        }

        return kept;
    }

    /// <summary>Without a branch, four at a time.</summary>
    public static int Unrolled(Span<long> items)
    {
        int kept = 0, i = 0;
        for (; i <= items.Length - 4; i += 4)
        {
            long a = items[i], b = items[i + 1], c = items[i + 2], d = items[i + 3];
            items[kept] = a;
            kept += (int)(~a >>> 63);
            items[kept] = b;
            kept += (int)(~b >>> 63);
            items[kept] = c;
            kept += (int)(~c >>> 63);
            items[kept] = d;
            kept += (int)(~d >>> 63);
        }

        for (; i < items.Length; i++)
        {
            long item = items[i];
            items[kept] = item;
            kept += (int)(~item >>> 63);
        }

        return kept;
    }

    /// <summary>The limit: all but the first number, moved one place to the front.</summary>
    public static int Move(Span<long> items)
    {
        items[1..].CopyTo(items);
        return items.Length - 1;
    }
}
