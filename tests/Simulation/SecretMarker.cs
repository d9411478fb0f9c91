namespace Treepie.Storage.Simulation;

/// <summary>
/// Bytes that a run puts into keys and values, and that no file of an encrypted environment may hold. Longer than chance would
/// make them: 96 bits that follow from nothing.
/// </summary>
internal static class SecretMarker
{
    public static ReadOnlySpan<byte> Bytes => "SecretMarker"u8;

    public const string Text = "SecretMarker";
}
