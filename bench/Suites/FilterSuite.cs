using System.Diagnostics;
using System.Globalization;
using System.Runtime.Intrinsics.X86;
using Treepie.Bench.Measuring;
using Treepie.Bench.Micro.Filter;
using Treepie.Bench.Suites.Filter;

namespace Treepie.Bench.Suites;

/// <summary>
/// The kernels: negative numbers removed in place beside plainer ways and memmove; sets of sorted numbers beside a merge.
/// </summary>
internal sealed class FilterSuite : ISuite
{
    private const string Chosen = "chosen";

    private static readonly int[] _sizes = [23, 1_047, 1_048_599, 33_554_455];

    private delegate int Form(Span<long> items);

    public string Name => "filter";

    public string Question =>
        """
        How fast are negative numbers removed from a list of 64-bit numbers, in place and in order, and how close is that to
        moving the list by one position (the limit)? Times per number. So many different lists of 23 and 1,047 numbers are used
        that one reading of the clock (steps of 100 ns here) covers half a megabyte, which the second-level cache holds; larger
        lists are in memory. *Treepie* is the variant chosen on this machine. Scalar: a branch per number; unrolled: four numbers
        without a branch. All variants must keep the same numbers. Rows named after a variant compare it with scalar. Sets: two
        sorted sets of 64-bit ids or of 16-bit offsets in a window of 4,096, compared with one number at a time. Nothing is
        allocated.

        What did not help: a branch for blocks without a negative number (as fast at 0.5 %, twice as slow at 5 % in memory, where
        it is mispredicted); loads aligned to cache lines by a short first step; prefetching; counting all four masks before the
        first store. What helped: one mask for both the compress and the count (0.24 → 0.20 ns at 1,047).
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
            foreach ((
                string name,
                double share) in new[]
                {
                    ("0.5 % negative", 0.005), ("5 % negative", 0.05), ("15 % negative", 0.15), ("only the first negative", -1)
                })
            {
                cancellationToken.ThrowIfCancellationRequested();
                AddRows(
                    rows, string.Create(CultureInfo.InvariantCulture, $"{size:N0}, {name}"), size,
                    Measure(forms, size, share, quick));
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
            Peers = medians.Where(time => time.Key is not (Chosen or "memmove"))
                .ToDictionary(time => time.Key, time => time.Value),
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
                Reason = string.Create(
                    CultureInfo.InvariantCulture,
                    $"scalar guesses nearly all of it right, and memory decides for both: memmove alone takes "
                        + $"{limit / medians["scalar"]:0.00} of scalar's time, so nothing can be below that"),
            });
        }

        if (size == _sizes[1] && times.TryGetValue("AVX-512", out List<double>? avx512))
        {
            rows.Add(BenchRow.Of($"AVX-512: {name}", "ns", false, avx512) with
            {
                Peers = new Dictionary<string, double> { ["scalar"] = medians["scalar"] },
                Limit = limit,
                Goals = [Goal.AtMost(1 / 0.9)],
                Reason =
                    "a compress takes two turns of the one port that has it, and every store begins where the last one ended, so "
                        + "most touch two lines; memmove aligns its stores and computes nothing",
            });
        }
    }

    private static Dictionary<string, List<double>> Measure(Dictionary<string, Form> forms, int size, double share, bool quick)
    {
        var random = new Random(size);
        int copies = size switch { < 100 => 2048, < 10_000 => 64, _ => 1 };
        int rounds = quick ? 3 : size switch { < 10_000 => 501, < 10_000_000 => 21, _ => 5 };
        long[] source = new long[size * copies];
        for (int i = 0; i < source.Length; i++)
            source[i] = (share < 0 ? i % size == 0 : random.NextDouble() < share) ? ~random.NextInt64() : random.NextInt64();

        long[] work = new long[source.Length];
        Dictionary<string, List<double>> times = forms.ToDictionary(form => form.Key, _ => new List<double>());
        Dictionary<string, ulong> digests = [];

        // Until the compiler is done with all of them.
        for (long began = Stopwatch.GetTimestamp();
             !quick && size < 10_000 && Stopwatch.GetElapsedTime(began) < TimeSpan.FromSeconds(0.5);)
        {
            foreach (Form form in forms.Values)
            {
                source.CopyTo(work, 0);
                for (int copy = 0; copy < copies; copy++)
                    form(work.AsSpan(copy * size, size));
            }
        }

        for (int round = 0; round < rounds; round++)
        {
            foreach ((string name, Form form) in forms)
            {
                source.CopyTo(work, 0);
                long began = Stopwatch.GetTimestamp();
                int kept = 0;
                for (int copy = 0; copy < copies; copy++)
                    kept = form(work.AsSpan(copy * size, size));
                times[name].Add(Stopwatch.GetElapsedTime(began).TotalNanoseconds / ((double)size * copies));
                if (round == 0 && name != "memmove")
                    digests.Add(name, Digest(work.AsSpan((copies - 1) * size, kept)));
            }
        }

        if (digests.Values.Distinct().Count() != 1)
            throw new InvalidOperationException("The forms do not keep the same numbers.");
        return times;
    }

    private static ulong Digest(ReadOnlySpan<long> kept)
    {
        ulong digest = (ulong)kept.Length;
        foreach (long item in kept)
            digest = (digest * 31) + (ulong)item;
        return digest;
    }
}
