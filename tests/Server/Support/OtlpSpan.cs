using System.Text;

namespace Treepie.Server.Tests.Support;

/// <summary>A span as OTLP carries it, in hexadecimal digits.</summary>
internal sealed record OtlpSpan(string Name, string Trace, string Id, string Parent)
{
    private const int TraceField = 1, IdField = 2, ParentField = 4, NameField = 5;

    public static OtlpSpan Read(byte[] message) => new(
        Encoding.UTF8.GetString(One(message, NameField)), Hex(message, TraceField), Hex(message, IdField),
            Hex(message, ParentField));

    /// <summary>The fields of that number in a message of protocol buffers which have a length.</summary>
    public static IEnumerable<byte[]> Fields(byte[] message, int number)
    {
        const int Varint = 0, Fixed64 = 1, Delimited = 2, Fixed32 = 5;
        for (int at = 0; at < message.Length;)
        {
            ulong key = ReadVarint(message, ref at);
            switch ((int)(key & 7))
            {
                case Varint:
                    ReadVarint(message, ref at);
                    break;
                case Fixed64:
                    at += 8;
                    break;
                case Fixed32:
                    at += 4;
                    break;
                case Delimited:
                    int length = (int)ReadVarint(message, ref at);
                    if ((int)(key >> 3) == number)
                        yield return message[at..(at + length)];
                    at += length;
                    break;
                default:
                    throw new InvalidDataException($"There is no wire type {key & 7}.");
            }
        }
    }

    private static string Hex(byte[] message, int number) => Convert.ToHexStringLower(One(message, number));

    private static byte[] One(byte[] message, int number) => Fields(message, number).SingleOrDefault() ?? [];

    private static ulong ReadVarint(byte[] message, ref int at)
    {
        ulong value = 0;
        for (int shift = 0; ; shift += 7)
        {
            byte next = message[at++];
            value |= (ulong)(next & 0x7F) << shift;
            if (next < 0x80)
                return value;
        }
    }
}
