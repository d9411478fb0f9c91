using BenchmarkDotNet.Attributes;
using Treepie.Storage.Paging;

namespace Treepie.Bench.Micro.Paging;

/// <summary>
/// Time to look up one of the 10,000 pages of a transaction, and to forget all of them. Here a page that is not found costs no
/// more than storing it; the suite <c>locator</c> asks the real page table.
/// </summary>
public class PageLocatorBenchmarks
{
    private const int Pages = 10_000;
    private const int Asked = 1 << 14;

    private readonly PageLocator _locator = new();
    private readonly long[] _asked = new long[Asked];

    /// <summary>Pages that are asked for.</summary>
    [Params(64, Pages)]
    public int Hot { get; set; }

    [GlobalSetup]
    public void Draw()
    {
        var random = new Random(Hot);
        for (int i = 0; i < Asked; i++)
            _asked[i] = 1 + random.Next(Hot);

        // As large as a command with all pages makes it.
        for (int round = 0; round < 8; round++)
        {
            for (long page = 1; page <= Pages; page++)
                _locator.Set(page, (uint)page, isWritable: true);
            _locator.Reset();
        }
    }

    [Benchmark(OperationsPerInvoke = Asked)]
    public long Get()
    {
        long sum = 0;
        foreach (long page in _asked)
        {
            uint frame = _locator.Get(page, out bool isWritable);
            if (frame == 0 || !isWritable)
                _locator.Set(page, frame = (uint)page, isWritable: true);
            sum += frame;
        }

        return sum;
    }

    [Benchmark(OperationsPerInvoke = Asked)]
    public void Reset()
    {
        for (int i = 0; i < Asked; i++)
            _locator.Reset();
    }
}
