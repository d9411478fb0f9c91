namespace Treepie.Indexing.Tests.Model;

/// <summary>What a bad disk makes of a record.</summary>
internal static class Damage
{
    /// <summary>The record with other bits, another length, or a count beyond all bounds in it.</summary>
    public static byte[] Of(byte[] record, Random random)
    {
        byte[] damaged = [.. record];
        switch (random.Next(4))
        {
            case 0:
                return damaged[..random.Next(damaged.Length)];
            case 1:
                byte[] huge = [0xFF, 0xFF, 0xFF, 0xFF, (byte)random.Next(0x10)];
                int place = random.Next(damaged.Length + 1);
                return [.. damaged[..place], .. huge, .. damaged[place..]];
            case 2:
                damaged[random.Next(damaged.Length)] = (byte)random.Next(256);
                return damaged;
            default:
                for (int i = random.Next(1, 5); i > 0; i--)
                    damaged[random.Next(damaged.Length)] ^= (byte)(1 << random.Next(8));
                return damaged;
        }
    }
}
