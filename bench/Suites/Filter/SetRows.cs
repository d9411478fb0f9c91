using System.Diagnostics;
using System.Globalization;
using Treepie.Bench.Measuring;
using Treepie.Storage.Kernels;

namespace Treepie.Bench.Suites.Filter;

/// <summary>Sets of sorted numbers: the form that is chosen against one number at a time.</summary>
internal static class SetRows
{
    /// <summary>So many that no processor learns what comes next.</summary>
    private const int Wanted = 4096;

    public static List<BenchRow> Run(bool quick)
    {
        var rows = new List<BenchRow>();
        foreach ((int left, int right) in new[] { (100, 100), (30, 120) })
        {
            ushort[] a = Offsets(left), b = Offsets(right);
            ushort[] room = new ushort[left];
            rows.Add(Row(
                string.Create(CultureInfo.InvariantCulture, $"{left} offsets and {right}: intersection"), left + right, quick,
                    () => Filter(room, a, b, SortedSets.Intersect),
                () => Filter(room, a, b, static (l, r) => SortedSets.FilterScalar(l, r, wanted: true))));
            rows.Add(Row(string.Create(CultureInfo.InvariantCulture, $"{left} offsets without {right}"), left + right, quick,
                () => Filter(room, a, b, SortedSets.Except),
                () => Filter(room, a, b, static (l, r) => SortedSets.FilterScalar(l, r, wanted: false))));
        }

        foreach ((int left, int right) in new[] { (10_000, 10_000), (1_000, 100_000), (100, 10_000) })
        {
            long[] a = Ids(left, right * 4), b = Ids(right, right * 4);
            long[] room = new long[left], both = new long[left + right];
            rows.Add(Row(
                string.Create(CultureInfo.InvariantCulture, $"{left:N0} ids and {right:N0}: intersection"), left + right, quick,
                    () => Filter(room, a, b, SortedSets.Intersect),
                () => Filter(room, a, b, static (l, r) => SortedSets.FilterScalar(l, r, wanted: true))));
            rows.Add(Row(string.Create(CultureInfo.InvariantCulture, $"{left:N0} ids and {right:N0}: union"), left + right, quick,
                () => SortedSets.Union(a, b, both), () => SortedUnion.Scalar(a, b, both)));
        }

        foreach (int count in new[] { 100, 1000 })
        {
            uint[] heads = [.. Enumerable.Range(0, count).Select(i => (uint)i * 7919)];
            uint[] wanted = [.. Enumerable.Range(0, Wanted).Select(i => (uint)Random(i, count * 7919))];
            rows.Add(Row(string.Create(CultureInfo.InvariantCulture, $"a place among {count:N0} heads"), Wanted, quick,
                () => Sum(heads, wanted, static (h, w) => SortedSearch.LowerBound(h, w)),
                () => Sum(heads, wanted, static (h, w) => SortedSearch.LowerBoundScalar(h, w))));
        }

        return rows;
    }

    private delegate int FilterCall<T>(Span<T> left, ReadOnlySpan<T> right);

    private delegate int SearchCall(ReadOnlySpan<uint> heads, uint wanted);

    private static int Filter<T>(T[] room, T[] left, T[] right, FilterCall<T> form)
    {
        left.CopyTo(room, 0);
        return form(room, right);
    }

    private static int Sum(uint[] heads, uint[] wanted, SearchCall form)
    {
        int sum = 0;
        foreach (uint value in wanted)
            sum += form(heads, value);
        return sum;
    }

    private static BenchRow Row(string name, int numbers, bool quick, Func<int> ours, Func<int> scalar)
    {
        if (ours() != scalar())
            throw new InvalidOperationException($"{name}: the forms disagree.");

        int calls = Math.Max(1, 200_000 / numbers), rounds = quick ? 3 : 101;
        var times = new List<double>();
        var others = new List<double>();
        for (long began = Stopwatch.GetTimestamp(); !quick && Stopwatch.GetElapsedTime(began) < TimeSpan.FromSeconds(0.8);)
            _ = Time(ours, calls) + Time(scalar, calls); // until the compiler is done with both
        for (int round = 0; round < rounds; round++)
        {
            times.Add(Time(ours, calls) / numbers);
            others.Add(Time(scalar, calls) / numbers);
        }

        return BenchRow.Of(name, "ns", false, times) with
        {
            Peers = new Dictionary<string, double> { ["scalar"] = Statistics.Median(others) },
            Goals = [new Goal(1, "scalar")],
        };
    }

    private static double Time(Func<int> call, int calls)
    {
        long began = Stopwatch.GetTimestamp();
        for (int i = 0; i < calls; i++)
            call();
        return Stopwatch.GetElapsedTime(began).TotalNanoseconds / calls;
    }

    private static ushort[] Offsets(int count) => [.. Ids(count, 4096).Select(id => (ushort)id)];

    private static long[] Ids(int count, int range)
    {
        var random = new Random(count + range);
        var set = new SortedSet<long>();
        while (set.Count < count)
            set.Add(random.Next(range));
        return [.. set];
    }

    private static long Random(int seed, int range) => new Random(seed).NextInt64(range);
}
