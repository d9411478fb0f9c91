using System.Diagnostics;
using System.Globalization;
using System.Runtime.Intrinsics.X86;
using Treepie.Bench.Measuring;
using Treepie.Bench.Suites.Filter;
using Treepie.Storage.Kernels;

namespace Treepie.Bench.Suites;

/// <summary>The kernels: negative numbers removed in place beside plainer ways and memmove; sets of sorted numbers beside a merge.</summary>
internal sealed class FilterSuite : ISuite
{
    private const string Chosen = "chosen";

    private static readonly int[] _sizes = [23, 1_047, 1_048_599, 33_554_455];

    private delegate int Form(Span<long> items);

    public string Name => "filter";

    public string Question =>
        """
        How fast are negative numbers removed from a list of 64-bit numbers, in place and in order, and how near is that to moving the list by one place? Times per number; lists of 23 and
        1,047 lie in the cache with copies of themselves, the larger ones do not. *Treepie* is the form that is chosen on this machine. Scalar: a branch for each number; unrolled: four without one.
        All forms must keep the same. Rows named after a form show that form against scalar. Sets: two sorted sets of 64-bit ids or of 16-bit offsets in a window of 4,096, against one number at a time.
        Nothing is allocated.
        """;

    public Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        var forms = new Dictionary<string, Form>
        {
            [Chosen] = NegativeFilter.Remove,
            ["scalar"] = FilterForms.Scalar,
            ["branchless"] = NegativeFilter.RemoveScalar,
            ["unrolled"] = FilterForms.Unrolled,
            ["memmove"] = FilterForms.Move,
        };
        if (Avx2.IsSupported)
            forms.Add("AVX2", NegativeFilter.RemoveAvx2);
        if (Avx512F.IsSupported)
            forms.Add("AVX-512", NegativeFilter.RemoveAvx512);

        var rows = new List<BenchRow>();
        foreach (int size in quick ? _sizes[..3] : _sizes)
        {
            progress.WriteLine($"filter: {size} numbers");
            foreach ((string name, double share) in new[] { ("0.5 % negative", 0.005), ("5 % negative", 0.05), ("15 % negative", 0.15), ("only the first negative", -1) })
            {
                cancellationToken.ThrowIfCancellationRequested();
                AddRows(rows, string.Create(CultureInfo.InvariantCulture, $"{size:N0}, {name}"), size, Measure(forms, size, share, quick));
            }
        }

        rows.AddRange(SetRows.Run(quick));
        return Task.FromResult<IReadOnlyList<BenchRow>>(rows);
    }

    private static void AddRows(List<BenchRow> rows, string name, int size, Dictionary<string, List<double>> times)
    {
        Dictionary<string, double> medians = times.ToDictionary(time => time.Key, time => Statistics.Median(time.Value));
        double limit = medians["memmove"];
        rows.Add(BenchRow.Of(name, "ns", false, times[Chosen]) with
        {
            Peers = medians.Where(time => time.Key is not (Chosen or "memmove")).ToDictionary(time => time.Key, time => time.Value),
            Limit = limit,
            Goals = [new Goal(1, "scalar")],
        });
        if (size == _sizes[2] && times.TryGetValue("AVX2", out List<double>? avx2))
        {
            rows.Add(BenchRow.Of($"AVX2: {name}", "ns", false, avx2) with
            {
                Peers = new Dictionary<string, double> { ["scalar"] = medians["scalar"] },
                Limit = limit,
                Goals = name.Contains('%', StringComparison.Ordinal) ? [new Goal(1 / 0.43, "scalar")] : [],
                Reason = "scalar guesses nearly all of 0.5 % right, and from there on memory decides for both",
            });
        }

        if (size == _sizes[1] && times.TryGetValue("AVX-512", out List<double>? avx512))
        {
            rows.Add(BenchRow.Of($"AVX-512: {name}", "ns", false, avx512) with
            {
                Peers = new Dictionary<string, double> { ["scalar"] = medians["scalar"] },
                Limit = limit,
                Goals = [Goal.AtMost(1 / 0.9)],
            });
        }
    }

    private static Dictionary<string, List<double>> Measure(Dictionary<string, Form> forms, int size, double share, bool quick)
    {
        var random = new Random(size);
        long[] source = new long[size];
        for (int i = 0; i < size; i++)
            source[i] = (share < 0 ? i == 0 : random.NextDouble() < share) ? ~random.NextInt64() : random.NextInt64();

        // Small lists stand side by side in few, so that one reading of the clock is for many of them.
        int copies = size switch { < 100 => 128, < 10_000 => 4, _ => 1 };
        int rounds = quick ? 3 : size switch { < 10_000 => 1001, < 10_000_000 => 21, _ => 5 };
        long[] work = new long[size * copies];
        Dictionary<string, List<double>> times = forms.ToDictionary(form => form.Key, _ => new List<double>());
        Dictionary<string, ulong> digests = [];

        // Until the compiler is done with all of them.
        for (long began = Stopwatch.GetTimestamp(); !quick && size < 10_000 && Stopwatch.GetElapsedTime(began) < TimeSpan.FromSeconds(size < 100 ? 2 : 0.5);)
        {
            foreach (Form form in forms.Values)
                form(Fill(work, source)[..size]);
        }

        for (int round = 0; round < rounds; round++)
        {
            foreach ((string name, Form form) in forms)
            {
                Fill(work, source);
                long began = Stopwatch.GetTimestamp();
                int kept = 0;
                for (int copy = 0; copy < copies; copy++)
                    kept = form(work.AsSpan(copy * size, size));
                times[name].Add(Stopwatch.GetElapsedTime(began).TotalNanoseconds / ((double)size * copies));
                if (round == 0 && name != "memmove")
                    digests.Add(name, Digest(work.AsSpan(0, kept)));
            }
        }

        if (digests.Values.Distinct().Count() != 1)
            throw new InvalidOperationException("The forms do not keep the same numbers.");
        return times;
    }

    private static Span<long> Fill(long[] work, long[] source)
    {
        for (int at = 0; at < work.Length; at += source.Length)
            source.CopyTo(work, at);
        return work;
    }

    private static ulong Digest(ReadOnlySpan<long> kept)
    {
        ulong digest = (ulong)kept.Length;
        foreach (long item in kept)
            digest = (digest * 31) + (ulong)item;
        return digest;
    }
}
