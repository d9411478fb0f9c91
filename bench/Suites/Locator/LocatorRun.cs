using Treepie.Storage.Paging;

namespace Treepie.Bench.Suites.Locator;

/// <summary>One list of pages asked for in the three ways; each way answers with the sum of the frames.</summary>
internal sealed class LocatorRun
{
    private readonly PageStore _store;
    private readonly long[] _asked;
    private readonly PageQuestion _question;
    private readonly PageLocator _locator = new();
    private readonly Dictionary<long, uint> _dictionary = [];
    private readonly Held[] _held;

    public LocatorRun(PageStore store, long[] asked, PageQuestion question)
    {
        _store = store;
        _asked = asked;
        _question = question;
        _held = new Held[store.Scratch.FrameCount];
    }

    public long ThroughLocator()
    {
        _locator.Reset();
        long sum = 0;
        foreach (long page in _asked)
        {
            uint frame = _locator.Get(page, out bool isWritable);
            if (frame == 0 || !isWritable)
            {
                frame = Ask(page);
                _locator.Set(page, frame, isWritable: true);
            }

            sum += frame;
        }

        return sum;
    }

    public long ThroughTable()
    {
        long sum = 0;
        foreach (long page in _asked)
            sum += Ask(page);
        return sum;
    }

    public long ThroughDictionary()
    {
        _dictionary.Clear();
        long sum = 0;
        foreach (long page in _asked)
        {
            if (!_dictionary.TryGetValue(page, out uint frame))
                _dictionary.Add(page, frame = Ask(page));
            sum += frame;
        }

        return sum;
    }

    private uint Ask(long page)
    {
        uint frame = _store.FrameOf(page);
        if (_question == PageQuestion.Write)
        {
            ref Scratch.FrameRecord record = ref _store.Scratch.Record(frame);
            if (record.Command < 0)
                throw new InvalidOperationException("No command has a number below 0.");
        }
        else if (_question == PageQuestion.Encrypted)
        {
            ref Held held = ref _held[frame];
            if (held.Page != page)
                held = new Held { Page = page, Frame = frame };
            held.Uses++;
            return held.Frame;
        }

        return frame;
    }

    private struct Held
    {
        public long Page;
        public uint Frame;
        public int Uses;
    }
}
