namespace Treepie.Storage.Files;

/// <summary>
/// Milliseconds since some moment, for ages: much cheaper to ask than a <see cref="TimeProvider"/>, since every read asks.
/// </summary>
internal sealed class CoarseClock(Func<long>? simulated = null)
{
    public long NowMs => simulated is null ? Environment.TickCount64 : simulated();
}
