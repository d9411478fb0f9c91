namespace Treepie.Storage.Files;

/// <summary>
/// A millisecond counter with an arbitrary start, for measuring ages. Much cheaper than a <see cref="TimeProvider"/>, since
/// every read uses it.
/// </summary>
internal sealed class CoarseClock(Func<long>? simulated = null)
{
    public long NowMs => simulated is null ? Environment.TickCount64 : simulated();
}
