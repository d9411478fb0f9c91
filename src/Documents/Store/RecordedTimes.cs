namespace Treepie.Store;

/// <summary>
/// Tells right times from wrong ones among times that a clock gave one after another and that may have been set meanwhile: a
/// time is wrong if it is yet to come, or earlier than a right one before it. What has a wrong time is as old as the next one
/// with a right time, before which it was recorded.
/// </summary>
/// <param name="since">A time before all of them, in UTC ticks; ignored if it is yet to come.</param>
/// <param name="now">The current time, in UTC ticks.</param>
internal struct RecordedTimes(long since, long now)
{
    private long _latest = since <= now ? since : 0;

    /// <summary>Returns whether the next time is right.</summary>
    public bool IsRight(long ticks)
    {
        if (ticks < _latest || ticks > now)
            return false;
        _latest = ticks;
        return true;
    }
}
