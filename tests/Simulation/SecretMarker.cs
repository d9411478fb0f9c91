namespace Treepie.Storage.Simulation;

/// <summary>
/// Bytes that a run puts into keys and values, and that no file of an encrypted environment may contain. At 96 bits, they are too
/// long to occur by chance.
/// </summary>
internal static class SecretMarker
{
    public static ReadOnlySpan<byte> Bytes => "SecretMarker"u8;

    public const string Text = "SecretMarker";
}
